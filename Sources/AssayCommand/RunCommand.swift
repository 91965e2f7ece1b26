struct RunCommand: SourceCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Runs a model on images and arrays, on the CPU.",
    usage: "assay run MODEL [WEIGHTS] INPUT… [options]",
    discussion: """
      EXAMPLES:
        assay run model.mlmodel cat.png --resize squash
        assay run model.mlmodel images --json --resize center-crop
        assay run model.mlmodel cat.png --detect auto --resize squash -o boxes.png
        assay run deploy.prototxt net.caffemodel cat.png --preset caffe --resize fit

      Inputs are images (PNG, JPEG) and arrays (.npy, .npz, .json, .csv). Several files, or the files \
      of a folder and its subfolders, run one after the other. A model with several inputs takes \
      NAME=FILE for each. If some of several inputs cannot be read, each is reported by name, the \
      others run, and the exit code is 2.

      \(ModelHelp.discussion)
      """)

  @Argument(help: ModelHelp.model, completion: .file()) var model: String

  @Argument(
    help:
      "Files, NAME=FILE, a folder, or - to read a list of paths. A source network's file of weights comes first.",
    completion: .file())
  var inputs: [String]

  @OptionGroup(title: "Names and shapes", visibility: .advanced) var sourceNames: NameArguments
  @OptionGroup(title: "Images", visibility: .advanced) var sourceImages: ImageArguments
  @OptionGroup(title: "Classes", visibility: .advanced) var sourceClasses: ClassArguments
  @OptionGroup(title: "Layers", visibility: .advanced) var sourceLayers: LayerArguments
  @OptionGroup(title: "Metadata", visibility: .advanced) var sourceMetadata: MetadataArguments

  @Option(
    name: [.customShort("t", allowingJoined: true), .long],
    help: .usual("The number of best classes to print.", "N"))
  var top = 5

  @Option(help: "The layout of array inputs and outputs.") var layout = ArrayLayout.source

  @Option(
    name: .customLong("feature"),
    help: .usual("Print or write only this output; repeatable.", "NAME"))
  var outputNames: [String] = []

  @Option(
    name: .customLong("layer"),
    help: .usual(
      "Also print or write this layer or blob, an input after preprocessing, or every blob (*); repeatable.",
      "NAME"))
  var layers: [String] = []

  @Option(
    name: .output,
    help: .usual(
      "Write the outputs to a .npy, .npz, .json or .csv file, or to a .png (an image, boxes or a heat map). For several inputs, name a folder, or one .csv with a row per input. - writes .npy, or .npz for several outputs, to standard output.",
      "FILE"), completion: .file())
  var destination: String?

  @Option(help: .usual("Run every Nth input, starting at the Ith.", "I/N")) var shard = Shard.whole

  @Flag(
    help:
      "Treat the inputs as steps of a sequence: pass the states of recurrent layers, or of an ML Program, from each to the next."
  )
  var carryStates = false

  @OptionGroup(title: "Images") var images: ResizeArguments

  @OptionGroup(title: "Detection") var boxes: DetectionArguments

  @OptionGroup(title: "Engine") var compute: ComputePrecisionArguments

  @OptionGroup(title: "Engine") var engine: EngineArguments

  @Flag(help: "Print each step, and each call to a custom layer, as it runs.") var verbose = false

  @Flag(help: "Print the time, operations and GFLOP/s of each step.") var steps = false

  @Flag(help: "Print JSON, one object per line.") var json = false

  @OptionGroup var report: ReportArguments

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    if top < 1 { throw ValidationError("--top must be at least 1") }
    if json, destination == "-" {
      throw ValidationError("--json and -o - both write to standard output")
    }
  }

  func run() throws {
    global.apply(verbose: verbose)
    var words = ([model] + inputs)[...]
    let files = ModelFiles(from: &words)
    try require(
      !words.isEmpty, .usage, "there is no input after the model",
      hint: "add an image or an array: assay run MODEL INPUT")
    let compile = try engine.compileOptions(for: model)
    var reader = ModelReader(source, compile.customLayers, global, inputs: Array(words))
    reader.function = engine.program.function
    reader.labels = boxes.mode == nil ? .conversion : .display
    let document = try reader.read(files).model
    try inFile(model) { try predictAll(document, Array(words), compile) }
  }

  private func predictAll(_ document: Model, _ inputs: [String], _ compile: CompileOptions) throws {
    let steps = StepLog()
    let predictor = try Predictor(
      model: document, options: options(for: document, compile, steps: steps))
    let list = try InputList(
      inputs, for: document, shard: shard, namesFiles: destination != nil,
      line: InputList.standardInput(for: inputs))
    if !list.isSingle { try report.refuse(with: "several inputs") }
    var writer = PredictionWriter(isSingle: list.isSingle, json: json, quiet: global.quiet)
    writer.outputNames = try checkedOutputNames(document)
    writer.labels = try ClassNames(
      file: source.classes.labels, model: predictor.model, keepsIdentifiers: false)
    (writer.top, writer.states) = (top, predictor.stateOutputs)
    writer.destination = destination
    if !list.isSingle { try writer.beginSeveral(hasBoxes: boxes.mode != nil) }
    if let mode = boxes.mode ?? (showsBoxes(of: document) ? .auto : nil) {
      writer.detection = ImageDetection(
        predictor, mode: mode, options: boxes.detector.options, labels: writer.labels?.names)
      writer.detection?.keepsBestClass = boxes.coco == nil
      writer.needsBoxes = boxes.mode != nil
      if boxes.coco != nil { writer.results = [] }
    }
    noteImages(predictor)
    if carryStates {
      try require(
        !predictor.states.isEmpty, .mismatch,
        "the model has neither states nor optional inputs and outputs for the states of recurrent layers"
      )
    }
    var loop = InputLoop(
      "assay run", quiet: global.quiet || Progress.isDisturbed(by: json), json: json)
    func show(_ source: InputSource, _ result: (Prediction, [String: FeatureValue])) throws {
      let executed = steps.take()
      let times = StepTable(records: executed)
      try writer.write(result.0, of: source, result.1) {
        guard self.steps else { return }
        if json || destination == "-" {
          Console.note(times.text)
        } else {
          Console.write(times.text)
        }
      }
      try report.write(model) { page in
        page.add(
          .facts([("input", inputs.joined(separator: " ")), ("program", "assay \(assayVersion)")]))
        try page.add(result.0, inputs: result.1, labels: writer.labels?.names)
        if let detection = writer.detection {
          try page.add(detection.result(result.0.outputs, of: result.1, from: source))
        }
        page.add("Time", times: times.reported, titles: StepTable.reportedTitles)
        page.add(document, customLayers: compile.customLayers)
      }
    }
    if carryStates {
      var states: [String: FeatureValue] = [:]
      try loop.run(list, InputReader(predictor)) { source, given, _ in
        (try source.blamed { try predictor.predict(given, &states) }, given)
      } then: {
        try show($0, $1)
      }
    } else {
      try loop.run(list, predictor) { _, given, prediction, _ in
        (prediction, given)
      } then: {
        try show($0, $1)
      }
    }
    try writer.finish()
    if loop.count == 0, shard != .whole, !global.quiet {
      Console.note("the shard contains no input")
    }
    if let path = boxes.coco, let results = writer.results {
      try AtomicFile.write(Array((JSONText.array(results).text + "\n").utf8), to: path)
      Console.wrote(path)
    }
    try loop.conclude()
  }

  /// Whether to print the boxes that the model describes even without --detect.
  private func showsBoxes(of model: Model) -> Bool {
    ImageDetection.isDescribed(in: model) && outputNames.isEmpty && layers.isEmpty && !carryStates
      && destination?.lowercased().hasSuffix(".png") != false
  }

  private func noteImages(_ predictor: Predictor) {
    let hasImages = predictor.inputs.contains {
      if case .image = $0.type?.kind { true } else { false }
    }
    guard hasImages, verbose, !global.quiet else { return }
    Console.note("images: \(predictor.images) (\(images.origin(for: predictor.model)))")
  }

  private func options(
    for document: Model, _ compile: CompileOptions, steps: StepLog
  ) throws -> Predictor.Options {
    try compute.requireLayers(in: document)
    var options = engine.prediction(compile, layout, try images.options(for: document), compute)
    options.keepsStates = carryStates
    options.keep =
      layers.contains(Self.all)
      ? .all : .named(Set(try layers.map { try blob(of: $0, in: document) }))
    if verbose || self.steps || report.report != nil {
      let verbose = verbose
      options.engine.hooks.onStep = { record in
        steps.append(record)
        if verbose { Console.note(StepLog.line(record)) }
      }
    }
    if verbose {
      options.engine.hooks.onCustomLayerCall = { Console.note(Console.escaped($0.description)) }
    }
    return options
  }

  /// The word for every blob in `--layer`.
  private static let all = "*"

  private func blob(of name: String, in document: Model) throws -> String {
    if let blob = document.blob(named: name) { return blob }
    throw ModelError(
      .mismatch, "the model has no layer or blob '\(name)'",
      hint: "list the layers with `assay inspect`")
  }

  /// The outputs to print, with inner blobs under their own names.
  private func checkedOutputNames(_ document: Model) throws -> [String] {
    let features = (document.description?.output ?? []).map(\.name)
    let kept = try layers.filter { $0 != Self.all }.map { try blob(of: $0, in: document) }
    return try outputNames.map { name in
      let feature = document.feature(meantBy: name)
      if features.contains(feature) { return feature }
      if let blob = document.blob(named: name),
        layers.contains(Self.all) || kept.contains(blob)
      {
        return blob
      }
      throw ModelError.unknown("output", name, among: features + kept)
    }
  }
}
