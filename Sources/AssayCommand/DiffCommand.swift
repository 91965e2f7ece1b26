struct DiffCommand: SourceCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Compares predictions with expected ones, or two models.",
    usage: """
      assay diff MODEL [WEIGHTS] INPUT --expected FILE [options]
      assay diff A B [options]
      assay diff MODEL MODEL [INPUT…] [options]
      assay diff MODEL [INPUT…] --arithmetic float16 [options]
      """,
    discussion: """
      EXAMPLES:
        assay diff model.mlmodel cat.png --expected expected.npz
        assay diff model.mlmodel cat.png --expected expected.npz --reference
        assay diff model.mlmodel images --expected predictions
        assay diff old.mlmodel new.mlmodel images
        assay diff deploy.prototxt net.caffemodel net.mlmodel
        assay diff actual.png expected.png -o difference.png
        assay diff old.mlmodel new.mlmodel cat.png -o difference.npz
        assay diff model.mlmodel cat.png --arithmetic float16

      The first form runs the model; the second compares two files of arrays, where B is expected; \
      the third compares the structure of two models and their predictions on the inputs or on random \
      ones, and expects those of the first. If the first is a source network, an interpreter of it \
      also runs beside the second, layer by layer. The fourth compares a model in half precision with \
      itself in single precision, and says which layers lose most and which to keep in single \
      precision. A folder or several files as INPUT give one summary of all. Exit code 1 means that an \
      output differs or that none was compared; with --structure, that something differs.

      \(ModelHelp.discussion)
      """)

  @Argument(
    help: "A model and its inputs, two files of arrays, or two models and their inputs.",
    completion: .file())
  var files: [String]

  @Option(
    help: .usual(
      "The expected outputs: .npz, .npy, .json, .csv, .h5, or an image. For several inputs: a folder with a file per input, a file whose first axis is the input, a .csv with the columns file,label, or the word folders if each image is in a folder named after its class.",
      "FILE"), completion: .file())
  var expected: String?

  @Option(help: .usual("Relative tolerance; default: 1e-4.", "[NAME=]X"))
  var rtol: [NamedValue<Fraction>] = []

  @Option(
    help: .usual(
      "Absolute tolerance; default: 1e-5, multiplied by the largest expected value if that exceeds 1; for image files, 1.",
      "[NAME=]X"))
  var atol: [NamedValue<Fraction>] = []

  @Option(
    name: .customLong("tolerance"),
    help: ArgumentHelp(
      "Set both tolerances for this precision; default: fp32, and fp16 with --arithmetic float16."))
  var profile: Tolerance.Profile?

  @Option(help: .usual("Also compare the N best classes.", "N")) var top: Int?

  @Option(
    help: .usual(
      "Also compare blobs inside the network and name the first that differs.", "FILE.npz"),
    completion: .file())
  var layers: String?

  @Flag(help: "Also run in double precision and say whether a difference is rounding.")
  var reference = false

  @Flag(
    name: .customLong("diagnose"), inversion: .prefixedNo,
    help:
      "Find out why outputs differ: try all usual causes, singly and in pairs, or none; default: for a few seconds."
  )
  var diagnoses: Bool?

  private var diagnose: Bool { diagnoses == true }

  @Option(
    help: .usual(
      "Seconds for --diagnose, and for the search of layers of --arithmetic; default: 60.",
      "SECONDS"))
  var budget: Double?

  @OptionGroup var report: ReportArguments

  @Option(
    name: .output,
    help: .usual(
      "Write the outputs minus the expected values, as arrays; or, to a .png, the absolute difference of two images, amplified so that the largest difference is white.",
      "FILE"), completion: .file(extensions: ["png", "npz", "npy", "json", "csv"]))
  var destination: String?

  @Option(help: "The layout of arrays.") var layout = ArrayLayout.source

  @OptionGroup(title: "Names and shapes", visibility: .advanced) var sourceNames: NameArguments
  @OptionGroup(title: "Images", visibility: .advanced) var sourceImages: ImageArguments
  @OptionGroup(title: "Classes", visibility: .advanced) var sourceClasses: ClassArguments
  @OptionGroup(title: "Layers", visibility: .advanced) var sourceLayers: LayerArguments
  @OptionGroup(title: "Metadata", visibility: .advanced) var sourceMetadata: MetadataArguments

  @OptionGroup(title: "Two models") var models: ModelDiffArguments

  @OptionGroup(title: "Images") var images: ResizeArguments

  @OptionGroup(title: "Engine") var compute: ComputePrecisionArguments

  @OptionGroup(title: "Engine") var engine: EngineArguments

  @Flag(help: "Print JSON.") var json = false

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    if files.count < 2, !isHalf {
      throw ValidationError("give a model and its inputs, two models, or two files of arrays")
    }
    if expected == nil, layers != nil || reference || diagnose {
      throw ValidationError("--layers, --reference and --diagnose need a model and --expected FILE")
    }
    if let budget, !(budget > 0 && budget <= 1e6) || !diagnose && !isHalf {
      throw ValidationError("--budget takes seconds, and needs --diagnose or --arithmetic float16")
    }
    if let destination,
      ![".png", ".npz", ".npy", ".json", ".csv"].contains(where: destination.lowercased().hasSuffix)
    {
      throw ValidationError("-o writes a .png of images, or a .npz, .npy, .json or .csv of arrays")
    }
    if models.structure, destination != nil {
      throw ValidationError("--structure compares no outputs, and -o writes their difference")
    }
    if let top, top < 1 { throw ValidationError("--top must be at least 1") }
  }

  func run() throws {
    global.apply()
    var compile = try engine.compileOptions(for: files.first ?? "")
    compile.hasBoundedLoops = global.timeout == nil
    var reader = ModelReader(source, compile.customLayers, global, recipe: images.recipe)
    reader.function = engine.program.function
    var words = files[...]
    if expected == nil, let first = try ModelFiles(fromModels: &words) {
      return try compareModels(first, words, reader, compile)
    }
    let comparison: Comparison
    var diagnosis: Diagnosis?
    var study: HalfPrecisionStudy?
    var model: Model?
    if let expected {
      let files = ModelFiles(from: &words)
      reader.inputs = Array(words)
      let document = try reader.read(files).model
      model = document
      if let list = try ManyInputs.list(Array(words), for: document, expected: expected) {
        return try inFile(files.path) {
          try compareMany(document, list, expected, options(for: document, compile))
        }
      }
      comparison = try inFile(files.path) {
        try Comparison.compare(
          document, inputs: Array(words), expected: expected,
          options: options(for: document, compile))
      }
      if diagnoses ?? (!isHalf && comparison.canBeDiagnosed), !comparison.matches {
        do {
          var trials = try inFile(files.path) { try options(for: document, compile) }
          // Findings about the values of trials do not concern the model.
          trials.engine.hooks.onFinding = nil
          diagnosis = try inFile(files.path) {
            try Diagnosis(
              document, inputs: Array(words), expected: expected,
              options: trials, budget: .seconds(budget ?? 60),
              multiplyAdds: diagnose ? nil : Diagnosis.usualMultiplyAdds)
          }
        } catch let error as ModelError where !diagnose && error.code != .outOfMemory {}
      }
      if isHalf, !comparison.matches {
        study = try inFile(files.path) {
          try halfPrecisionStudy(of: document, Array(words), compile)
        }
      }
    } else {
      try require(files.count == 2, .usage, "add --expected FILE, or give two models")
      try inFile(files[0]) {
        try ModelReader.refuse(reader.conversionOptions, of: "a file of arrays")
      }
      comparison = try Comparison.compare(
        arrays: files[0], with: files[1], options: options(for: nil, compile))
    }
    let text = ComparisonText(comparison: comparison)
    let why = diagnosis.map { DiagnosisText(diagnosis: $0, isLimited: !diagnose) }
    let half = study.map(HalfPrecisionText.init)
    Console.write(
      text.text() + (why?.text() ?? "") + (half?.text() ?? ""),
      orJSON: text.json(why?.json(), halfPrecision: half?.json()), json)
    try writeReport(files[0], against: expected ?? files[1], inputs: expected == nil ? [] : words) {
      page in
      try page.add(comparison, diagnosis: diagnosis)
      if let study { page.add(study) }
      if let model { page.add(model, customLayers: compile.customLayers) }
    }
    try writeDifference(comparison)
    if !comparison.matches { throw ExitCode(1) }
  }

  private func compareModels(
    _ files: ModelFiles, _ words: ArraySlice<String>, _ reader: ModelReader,
    _ compile: CompileOptions
  ) throws {
    var words = words
    guard let other = try ModelFiles(fromModels: &words) else {
      if let missing = words.first(where: { $0 != "-" && !Folder.exists($0) }) {
        _ = try FileFormat.read(missing)
      }
      if isHalf { return try studyHalfPrecision(of: files, Array(words), reader, compile) }
      throw ModelError(
        .usage, "there is one model and nothing to compare it with",
        hint: "add an input and --expected FILE, or give two models")
    }
    var reader = reader
    reader.inputs = Array(words)
    // A source network gets the interface of the model on the other side of the comparison.
    let model = try other.isSource ? nil : reader.read(other, refusing: [])
    reader.interface = model?.model
    let first = try reader.read(files, refusing: [])
    reader.interface = first.isSource ? nil : first.model
    let second = try model ?? reader.read(other, refusing: [])
    if !first.isSource, !second.isSource {
      try inFile(files.path) { try ModelReader.refuse(reader.conversionOptions) }
    }
    let (comparison, many) = try inFile(files.path) {
      var all = ModelComparison.Options()
      all.comparison = try options(for: first.model, compile)
      (all.structureOnly, all.seed, all.topOfMany) = (models.structure, engine.seed, 5)
      return try ModelDiffArguments.compare(
        first.model, second.model, inputs: Array(words), all, loop)
    }
    if many != nil { try requireNoReport() }
    let text = ModelDifferenceText(comparison: comparison)
    let proof = try proof(
      of: second, from: first, renamed: comparison.difference.blobs, Array(words), compile)
    if json {
      Console.print(text.json(failed: many?.json, proof: proof).text)
    } else {
      Console.write(text.text())
      if let proof { Console.write("\n" + ProofText(proof: proof).text(files.path)) }
      if first.isSource, !comparison.matches || proof?.finding != nil, diagnoses != false {
        Console.write(text.explanation(proof?.finding, files.path))
      }
    }
    try many?.conclude()
    try writeReport(other.path, against: files.path, inputs: words) { page in
      for run in comparison.runs { try page.add(run.comparison, diagnosis: nil) }
      for (model, path) in [(second.model, other.path), (first.model, files.path)] {
        page.add(model, customLayers: compile.customLayers, of: " of " + ReportArguments.name(path))
      }
    }
    if let run = comparison.runs.first {
      try writeDifference(run.comparison)
    } else if destination != nil, let error = comparison.notRun {
      throw error
    }
    if !comparison.matches || proof?.finding != nil { throw ExitCode(1) }
  }

  /// The proof of `second`, if `first` is its source network.
  private func proof(
    of second: ModelReader.Document, from first: ModelReader.Document,
    renamed: [String: String], _ words: [String], _ compile: CompileOptions
  ) throws -> Proof? {
    guard let origin = first.origin, !second.isSource, !models.structure else { return nil }
    var options = Proof.Options()
    options.seed = engine.seed
    let comparison = try self.options(for: second.model, compile)
    options.predictor = comparison.predictor
    options.rounding = max(options.rounding, comparison.tolerances.standard.relative / 10)
    do {
      return try origin.proof(of: second.model, renamed: renamed, inputs: words, options: options)
    } catch let error as ModelError where error.code != .outOfMemory {
      if error.code != .unsupported, !global.quiet {
        Console.note("not compared: \(Console.escaped(error.description))")
      }
      return nil
    }
  }

  private func compareMany(
    _ document: Model, _ list: InputList, _ expected: String, _ options: Comparison.Options
  ) throws {
    try requireNoReport()
    var options = options
    options.topOfScores = 5
    let many = try ManyInputs(
      document, list, expected: expected, options: options, loop)
    Console.write(many.text, orJSON: many.json, json)
    try many.loop.conclude()
    if !many.matches { throw ExitCode(1) }
  }

  private var loop: InputLoop { InputLoop("assay diff", quiet: global.quiet || json) }

  private func requireNoReport() throws {
    try require(
      report.report == nil && destination == nil, .usage, "--report and -o take a single input")
  }

  /// - Throws: `.mismatch` for a tolerance of an output that the model does not have.
  private func requireOutputs(in document: Model) throws {
    let outputs = (document.description?.output ?? []).map(\.name)
    for name in (rtol + atol).compactMap(\.name)
    where !outputs.contains(document.feature(meantBy: name)) {
      throw ModelError.unknown("output", name, " for its tolerance", among: outputs)
    }
  }

  func options(for document: Model?, _ compile: CompileOptions) throws -> Comparison.Options {
    var options = Comparison.Options(
      engine.prediction(compile, layout, try document.map { try images.options(for: $0) }, compute))
    if let document { try compute.requireLayers(in: document) }
    options.tolerances = Tolerances((profile ?? (isHalf ? .fp16 : .fp32)).tolerance)
    for (values, part, named) in [
      (rtol, \Tolerance.relative, \Tolerances.relative), (atol, \.absolute, \.absolute),
    ] {
      for value in values {
        if let name = value.name {
          options.tolerances[keyPath: named][name] = value.value.value
        } else {
          options.tolerances.standard[keyPath: part] = value.value.value
          options.tolerances.image[keyPath: part] = value.value.value
        }
      }
    }
    if atol.contains(where: { $0.name == nil }) { options.tolerances.standard.isScaled = false }
    if let document {
      options = options.named(for: document)
      if expected != nil, layers == nil { try requireOutputs(in: document) }
    }
    options.top = top
    options.layers = layers
    options.reference = reference
    options.keepsDifferences = destination != nil
    options.runsLayersAlone = report.report != nil
    return options
  }

  private func writeDifference(_ comparison: Comparison) throws {
    guard let path = destination else { return }
    guard path.lowercased().hasSuffix(".png") else {
      try require(
        !comparison.differences.arrays.isEmpty, .mismatch,
        "no two arrays of the same shape were compared", file: path)
      try comparison.differences.write(to: path)
      return Console.wrote(path)
    }
    let images = comparison.images
    try require(
      images.count == 1, .mismatch,
      images.isEmpty
        ? "no two images of the same size were compared" : "\(images.count) outputs are images",
      file: path,
      hint: "-o FILE.png writes the difference of one pair of images, -o FILE.npz that of arrays")
    let (image, largest) = try images[0].amplified()
    try image.writePNG(to: path)
    guard !global.quiet else { return }
    Console.note(
      Console.escaped(path)
        + (largest == 0
          ? ": black, because nothing differs" : ": white is a difference of \(largest) of 255"))
  }

  /// - Parameter inputs: empty for two files of arrays.
  func writeReport(
    _ actual: String, against expected: String, inputs: some Sequence<String>,
    fill: (inout Report) throws -> Void
  ) throws {
    try report.write(actual, expected) { page in
      page.add(
        .facts(
          [("actual", actual), ("expected", expected)] + inputs.map { ("input", $0) }
            + [("program", "assay \(assayVersion)")]))
      try fill(&page)
    }
  }
}

extension Tolerance.Profile: ExpressibleByArgument {}
