struct EvalCommand: SourceCommand {
  static let configuration = CommandConfiguration(
    commandName: "eval",
    abstract: "Measures the accuracy of a classifier or a detector on labeled images.",
    discussion: """
      EXAMPLES:
        assay eval model.mlmodel images --expected labels.csv --resize squash
        assay eval model.mlmodel images --expected folders -o worst.png
        assay eval yolo.mlmodel val --expected coco.json --resize fit

      --expected is the ground truth. For a classifier, it is a .csv with the columns file,label, or the \
      word folders if each image is in a folder named after its class. For a detector, it is a COCO \
      annotation file; average precision and recall follow COCO's rules and count all boxes with a \
      score above 0.001 unless --detector threshold=X sets another. If some inputs fail, each is reported by \
      name, the others are measured, and the exit code is 2.

      \(ModelHelp.discussion)
      """)

  @Argument(help: ModelHelp.model, completion: .file()) var model: String

  @Argument(
    help:
      "Images, a folder, or - to read a list of paths. A source network's file of weights comes first.",
    completion: .file())
  var inputs: [String]

  @OptionGroup(title: "Names and shapes", visibility: .advanced) var sourceNames: NameArguments
  @OptionGroup(title: "Images", visibility: .advanced) var sourceImages: ImageArguments
  @OptionGroup(title: "Classes", visibility: .advanced) var sourceClasses: ClassArguments
  @OptionGroup(title: "Layers", visibility: .advanced) var sourceLayers: LayerArguments
  @OptionGroup(title: "Metadata", visibility: .advanced) var sourceMetadata: MetadataArguments

  @Option(
    help: .usual(
      "The true classes or boxes: a .csv with the columns file,label; folders; or COCO's .json.",
      "FILE|folders"), completion: .file())
  var expected: String

  @Option(
    name: [.customShort("t", allowingJoined: true), .long],
    help: .usual("Also count an input as right if its class is among the N best.", "N"))
  var top = 5

  @Option(help: .usual("The output with the scores of the classes.", "NAME")) var feature: String?

  @Option(
    help: .usual("Write the full confusion matrix.", "FILE.csv"),
    completion: .file(extensions: ["csv"]))
  var confusion: String?

  @Option(
    name: .output,
    help: .usual(
      "Write a sheet of the worst images: the wrong classes with the highest scores, or the most wrong and missing boxes.",
      "FILE.png"), completion: .file(extensions: ["png"]))
  var sheet: String?

  @Option(help: .usual("The number of worst images.", "N")) var worst = 20

  @Option(help: "The layout of array inputs and outputs.") var layout = ArrayLayout.source

  @OptionGroup(title: "Images") var images: ResizeArguments

  @OptionGroup(title: "Detection") var boxes: DetectionArguments

  @OptionGroup(title: "Engine") var compute: ComputePrecisionArguments

  @OptionGroup(title: "Engine") var engine: EngineArguments

  @Flag(help: "Print JSON.") var json = false

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    if top < 1 { throw ValidationError("--top must be at least 1") }
    if !(1...100).contains(worst) { throw ValidationError("--worst must be 1 to 100") }
    if let sheet, !sheet.lowercased().hasSuffix(".png") {
      throw ValidationError("-o writes a .png")
    }
  }

  func run() throws {
    global.apply()
    let isJSON = try expected != InputLabels.folders && FileFormat.read(expected).format == .json
    let mode = boxes.mode ?? (isJSON ? .auto : nil)
    if mode != nil, confusion != nil || feature != nil {
      throw ValidationError("--confusion and --feature are for classifiers, not for boxes")
    }
    let compile = try engine.compileOptions(for: model)
    var words = ([model] + inputs)[...]
    let files = ModelFiles(from: &words)
    var reader = ModelReader(
      source, compile.customLayers, global, recipe: images.recipe, inputs: Array(words))
    reader.function = engine.program.function
    reader.labels = mode == nil ? .conversion : .display
    let document = try reader.read(files).model
    try inFile(files.path) {
      try compute.requireLayers(in: document)
      let options = engine.prediction(
        compile, layout, try images.options(for: document), compute)
      let predictor = try Predictor(model: document, options: options)
      let list = try InputList(
        Array(words), for: document, line: InputList.standardInput(for: Array(words)))
      if let mode { try detect(predictor, list, mode) } else { try classify(predictor, list) }
    }
  }

  private func classify(_ predictor: Predictor, _ list: InputList) throws {
    let names = try ClassNames(
      file: source.classes.labels, model: predictor.model, keepsIdentifiers: true)?.names
    var evaluation = ClassEvaluation(
      try InputLabels(expected, inputs: list), names: names, output: feature, top: top,
      mistakeLimit: worst)
    var loop = InputLoop("assay eval", quiet: global.quiet || json)
    var sources: [String: InputSource] = [:]
    try loop.run(list, predictor) { source, _, prediction, _ in
      try evaluation.add(prediction, of: source)
      // Only the sources of mistakes are needed later.
      let mistakes = evaluation.result?.mistakes ?? []
      if sheet != nil, mistakes.contains(where: { $0.input == source.name }) {
        sources[source.name] = source
        sources = sources.filter { name, _ in mistakes.contains { $0.input == name } }
      }
    }
    try loop.requireResults()
    guard let result = evaluation.result else { return }
    let text = ClassificationText(result)
    Console.write(text.text, orJSON: text.json(failed: loop.json), json)
    if let confusion { try AtomicFile.write(Array(text.matrix.utf8), to: confusion) }
    try writeSheet(
      result.mistakes.compactMap { mistake in
        guard let source = sources[mistake.input] else { return nil }
        let score = numberText(mistake.score, digits: 3)
        return (
          source,
          [
            "\(result.classes[mistake.predicted]) \(score)",
            "is \(result.classes[mistake.truth])", mistake.input,
          ], { $0 }
        )
      }, predictor)
    try loop.conclude()
  }

  private func detect(_ predictor: Predictor, _ list: InputList, _ mode: DetectionMode) throws {
    var options = boxes.detector.options
    if options["threshold"] == nil {
      options["threshold"] = String(DetectionEvaluation.usualThreshold)
    }
    let names = try ClassNames(
      file: source.classes.labels, model: predictor.model, keepsIdentifiers: false)?.names
    let detection = ImageDetection(predictor, mode: mode, options: options, labels: names)
    var evaluation = try inFile(expected) {
      try DetectionEvaluation(try COCOTruth.read(expected), mistakeLimit: worst)
    }
    var loop = InputLoop("assay eval", quiet: global.quiet || json)
    try loop.run(list, predictor) { source, values, prediction, _ in
      try evaluation.add(
        try detection.result(prediction.outputs, of: values, from: source), of: source)
    }
    try loop.requireResults()
    let text = AveragePrecisionText(evaluation)
    Console.write(text.text, orJSON: text.json(failed: loop.json), json)
    if let path = boxes.coco {
      try AtomicFile.write(Array((text.results.text + "\n").utf8), to: path)
    }
    let unknown = evaluation.unknownClasses.sorted()
    if !unknown.isEmpty, !global.quiet {
      Console.note(
        "not counted: boxes of classes that the ground truth lacks: "
          + Console.escaped(unknown.joined(separator: ", ")))
    }
    try writeSheet(
      evaluation.mistakes.map { mistake in
        (
          mistake.source,
          ["\(mistake.missed) missed, \(mistake.wrong) wrong", mistake.source.name],
          { try mistake.drawn($0) }
        )
      }, predictor)
    try loop.conclude()
  }

  private func writeSheet(
    _ tiles: [(source: InputSource, lines: [String], draw: (Image) throws -> Image)],
    _ predictor: Predictor
  ) throws {
    guard let sheet else { return }
    guard !tiles.isEmpty else {
      if !global.quiet { Console.note("\(sheet) is not written: no image is wrong") }
      return
    }
    let images = try tiles.map { tile in
      let values = try tile.source.read(for: predictor.model, images: predictor.images)
      let image = values.values.compactMap { value in
        if case .image(let image) = value { image } else { nil }
      }.first
      guard let image else {
        throw ModelError(
          .mismatch, "a sheet needs images, but the input is an array", file: tile.source.name)
      }
      return ContactSheet.Tile(try tile.draw(image), lines: tile.lines)
    }
    try ContactSheet.image(of: images).writePNG(to: sheet)
  }
}
