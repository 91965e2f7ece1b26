import ArgumentParser
import Assay

struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Predicts with an .mlmodel on the CPU.",
    discussion: """
      Inputs are pictures (PNG, JPEG) and arrays (.npy, .npz, .json, .csv). Several files, or the \
      files of a folder and its sub-folders, run one after the other; NAME=FILE gives each of several \
      inputs its own. Of several, what cannot be read is reported by name, the others go on, and the \
      exit code is 2 at the end.
      """)

  @Argument(help: "The model.", completion: .file(extensions: ["mlmodel"]))
  var model: String

  @Argument(help: "FILE, NAME=FILE, a folder, or - for a list of files.", completion: .file())
  var inputs: [String]

  @Option(name: .shortAndLong, help: "How many of the best classes to print.")
  var top = 5

  @Option(
    help: ArgumentHelp(
      "Labels for a model that has none: one a line, or JSON.", valueName: "FILE"),
    completion: .file())
  var labels: String?

  @Flag(help: "Labels keep the WordNet identifiers in front of them, n02123045 and the like.")
  var wnid = false

  @Option(help: "Layout of array inputs and outputs.")
  var layout = ArrayLayout.source

  @Option(
    name: .customLong("output"),
    help: ArgumentHelp("Print this output only; repeatable.", valueName: "NAME"))
  var outputNames: [String] = []

  @Flag(help: "Every output and every blob inside.")
  var allOutputs = false

  @Option(
    name: .customLong("layer"),
    help: ArgumentHelp(
      "A layer or blob inside, too, or an input after its preprocessing; repeatable.",
      valueName: "NAME"))
  var layers: [String] = []

  @Option(
    name: .customShort("o"),
    help: ArgumentHelp(
      "Write the outputs: .npy, .npz, .json, .csv, or .png for an image, boxes or a heat map; a folder for several inputs.",
      valueName: "FILE"),
    completion: .file())
  var destination: String?

  @Option(
    help: ArgumentHelp(
      "Of all predictions the Ith, the (I+N)th, …: N commands with I from 1 to N make all of them.",
      valueName: "I/N"))
  var shard = Shard.whole

  @OptionGroup(title: "Pictures") var pictures: PictureArguments

  @OptionGroup(title: "Boxes") var boxes: DetectionArguments

  @OptionGroup(title: "Engine") var engine: EngineArguments

  @Flag(help: "Each step as it runs.")
  var verbose = false

  @Flag(help: "Time, operations and GFLOP/s of each step.")
  var profile = false

  @Option(help: "The calls that custom layers get.")
  var trace: Trace?

  enum Trace: String, ExpressibleByArgument, CaseIterable {
    case custom
  }

  @Flag(help: "One JSON object a line.")
  var json = false

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    if top < 1 { throw ValidationError("--top takes a number from 1") }
  }

  func run() throws {
    global.apply()
    let document = try inFile(model) { try Model(contentsOf: model) }
    try inFile(model) { try predictAll(document) }
  }

  private func predictAll(_ document: Model) throws {
    let steps = StepLog()
    let predictor = try Predictor(model: document, options: options(for: document, steps: steps))
    let list = try InputList(
      inputs, for: document, shard: shard, namesFiles: destination != nil
    ) { readLine() }
    var writer = PredictionWriter(isSingle: list.isSingle, json: json, quiet: global.quiet)
    writer.outputNames = try checkedOutputNames(document)
    writer.labels = try ClassNames(file: labels, model: document, keepsIdentifiers: wnid)
    writer.top = top
    writer.destination = destination
    if let mode = boxes.mode {
      writer.detection = PictureDetection(
        predictor, mode: mode, options: boxes.options, labels: writer.labels?.names)
      if boxes.coco != nil { writer.results = [] }
    }
    notePictures(predictor)
    let progress = Progress("assay run", enabled: !global.quiet && !json)
    defer { progress.finish() }
    var failures = InputFailures(json: json)
    let items = ReadAhead(list, for: document, pictures: predictor.pictures)
    var count = 0
    while let item = items.next() {
      defer { progress.update(count, of: list.count) }
      count += 1
      let prediction: Prediction
      let values: [String: FeatureValue]
      do {
        values = try item.values.get()
        prediction = try predictor.predict(values)
      } catch
        where !list.isSingle && InputFailures.isOfOneInput(error, item)
      {
        progress.finish()
        failures.report(error, for: item.source)
        continue
      }
      progress.finish()
      try writer.write(prediction, of: item.source, values)
      let executed = steps.take()
      if profile { Console.write(StepTable(records: executed).text) }
    }
    progress.finish()
    if let path = boxes.coco, let results = writer.results {
      try AtomicFile.write(Array((JSONText.array(results).text + "\n").utf8), to: path)
    }
    try failures.conclude(of: count)
  }

  /// Says what happens to pictures where that is not the default.
  private func notePictures(_ predictor: Predictor) {
    let hasPictures = predictor.inputs.contains {
      if case .image = $0.type?.kind { true } else { false }
    }
    guard hasPictures, !global.quiet, verbose || !json,
      verbose || predictor.pictures != PictureOptions()
    else { return }
    Console.note("pictures: \(predictor.pictures) (\(pictures.origin(for: predictor.model)))")
  }

  private func options(for document: Model, steps: StepLog) throws -> Predictor.Options {
    var options = Predictor.Options()
    options.layout = layout
    options.pictures = try pictures.options(for: document)
    options.engine = try engine.compileOptions()
    options.forgetBias = engine.forgetBias
    options.keep =
      allOutputs ? .all : .named(Set(try layers.map { try blob(of: $0, in: document) }))
    if verbose || profile {
      let verbose = verbose
      options.engine.hooks.onStep = { record in
        steps.append(record)
        if verbose { Console.note(StepLog.line(record)) }
      }
    }
    if trace == .custom {
      options.engine.hooks.onCustomLayerCall = { Console.note(Console.escaped($0.description)) }
    }
    return options
  }

  private func blob(of name: String, in document: Model) throws -> String {
    if let blob = document.blob(named: name) { return blob }
    throw ModelError(
      .mismatch, "the model has no layer or blob '\(name)'",
      hint: "`assay inspect` lists them")
  }

  /// The outputs to print, blobs inside by their own names.
  private func checkedOutputNames(_ document: Model) throws -> [String] {
    let features = (document.description?.output ?? []).map(\.name)
    let kept = try layers.map { try blob(of: $0, in: document) }
    return try outputNames.map { name in
      if features.contains(name) { return name }
      if let blob = document.blob(named: name), allOutputs || kept.contains(blob) { return blob }
      throw ModelError(
        .mismatch, "the model has no output '\(name)'",
        hint: "its outputs are " + (features + kept).joined(separator: ", "))
    }
  }
}
