import CSystem

struct BenchCommand: SourceCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "Measures how long predictions take.",
    discussion: """
      EXAMPLES:
        assay bench model.mlmodel
        assay bench model.mlmodel --steps --threads 1
        assay bench deploy.prototxt --json > before.json

      The load time runs from opening the file until the network is ready; the first run is \
      reported separately. A Keras architecture .json, a Caffe .prototxt or a Darknet .cfg without \
      its weights, or a model without weights, gets random weights. Operations are counted from the \
      definition of each layer; a multiply-add counts as two. A Winograd convolution needs fewer, so \
      it can exceed the peak, which is measured with a loop in registers.

      With --json, the first line is {"load_ms": …, "first_ms": …}, followed by a line {"ms": …} for \
      each timed run, with --steps by a line for each step, and by a summary. --against compares with \
      such a file: two measurements are the same if their ranges from minimum to median overlap, or \
      if their minimums differ by less than 2%.

      \(ModelHelp.discussion)
      """)

  @Argument(help: ModelHelp.model, completion: .file()) var model: String

  @Argument(help: ModelHelp.weights, completion: .file()) var weights: String?

  @OptionGroup(title: "Names and shapes", visibility: .advanced) var sourceNames: NameArguments
  @OptionGroup(title: "Images", visibility: .advanced) var sourceImages: ImageArguments
  @OptionGroup(title: "Classes", visibility: .advanced) var sourceClasses: ClassArguments
  @OptionGroup(title: "Layers", visibility: .advanced) var sourceLayers: LayerArguments
  @OptionGroup(title: "Metadata", visibility: .advanced) var sourceMetadata: MetadataArguments

  @Option(
    parsing: .upToNextOption, help: .usual("An image or array; default: random values.", "FILE"),
    completion: .file())
  var inputs: [String] = []

  @Option(help: "The layout of array inputs.") var layout = ArrayLayout.source

  @OptionGroup(title: "Engine") var compute: ComputePrecisionArguments

  @OptionGroup(title: "Engine") var engine: EngineArguments

  @Option(help: .private) var warmup = 2

  @Option(help: "The number of timed runs.") var runs = 20

  @Flag(help: "Print a table of all steps with the shortest time of each.") var steps = false

  @Option(
    help: .usual("Compare with the output of an earlier --json run.", "OLD.json"),
    completion: .file(extensions: ["json"]))
  var against: String?

  @Flag(help: "Print JSON, one object per line.") var json = false

  @OptionGroup var page: ReportArguments

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    if runs < 1 || warmup < 0 {
      throw ValidationError("--runs must be at least 1, --warmup at least 0")
    }
  }

  func run() throws {
    global.apply()
    let earlier = try against.map { try EarlierResult(contentsOf: $0) }
    try inFile(model) { try measure(earlier) }
  }

  private func measure(_ earlier: EarlierResult?) throws {
    let progress = Progress(
      "assay bench", enabled: !global.quiet && !Progress.isDisturbed(by: json))
    defer { progress.finish() }
    let clock = ContinuousClock()
    let start = clock.now
    var options = engine.prediction(try engine.compileOptions(for: model), layout, nil, compute)
    var reader = ModelReader(source, options.engine.customLayers, global, inputs: inputs)
    reader.function = engine.program.function
    reader.missingWeights = .random(RandomWeights(seed: engine.seed))
    // Not during the measurement; see below.
    reader.warnsOfWeights = false
    let files = ModelFiles(model, weights: weights)
    try require(
      weights == nil || files.isSource, .mismatch,
      "a Core ML model contains its weights and takes no second file", file: weights,
      hint: "give inputs with --inputs")
    let document = try reader.read(files)
    try compute.requireLayers(in: document.model)
    let steps = StepLog()
    let timesSteps = self.steps || page.report != nil
    if timesSteps { options.engine.hooks.onStep = { steps.append($0) } }
    let predictor = try Predictor(model: document.model, options: options)
    let blobs = try self.blobs(predictor, document.model)
    let network = try predictor.network(for: blobs)
    let load = clock.now - start
    var results: [String: Tensor] = [:]
    let first = try clock.measure { results = try network.predict(blobs) }
    if json { Console.print(BenchReport.firstLine(load: load, first: first).text) }
    for _ in 0..<warmup { _ = try network.predict(blobs) }
    _ = processor_met_subnormals()
    steps.clear()
    var times: [Double] = []
    var shortest: [StepRecord] = []
    while times.count < runs {
      let time = try clock.measure { _ = try network.predict(blobs) }.milliseconds
      times.append(time)
      shortest = Self.shortest(shortest, steps.take())
      if json { Console.print(BenchReport.line(time).text) }
      progress.update(Double(times.count) / Double(runs), counted(times.count, "run"))
    }
    let metSubnormals = processor_met_subnormals()
    progress.finish()
    predictor.report(results)
    guard let timings = Timings(times) else { return }
    var report = BenchReport(network, timings, load: load, first: first)
    if metSubnormals {
      processor_flush_subnormals()
      let other = try Predictor(model: document.model, options: options).network(for: blobs)
      _ = try other.predict(blobs)
      report.flushed = try (0..<min(runs, 5)).map { _ in
        try clock.measure { _ = try other.predict(blobs) }.milliseconds
      }.min()
    }
    report.arithmetic = compute.precision
    if compute.precision == .fast {
      options.precision = .float32
      options.engine.hooks.onStep = nil
      let exact = try Predictor(model: document.model, options: options).network(for: blobs)
      report.largestError = largestError(of: results, against: try exact.predict(blobs))
    }
    // This reads the whole file, which must not count as memory of the runs.
    if !global.quiet {
      Console.warnOfWeights(document.model, file: document.isSource ? weights ?? model : model)
    }
    report.inputs = inputs.isEmpty ? nil : inputs.joined(separator: " ")
    report.inputShapes = network.inputs.map { ($0.name, $0.shape) }
    report.seed = engine.seed
    report.hasRandomWeights = document.lacksWeights
    report.warmup = warmup
    if let earlier { report.compare(with: earlier) }
    // Measuring the machine's peak would prolong a measurement that reports only runs.
    if !json || timesSteps { report.measurePeak() }
    let table = StepTable(records: shortest, peak: report.peak?.all)
    if json {
      for line in self.steps ? table.json : [] { Console.print(line.text) }
      Console.print(report.json.text)
    } else {
      Console.write(report.text)
      if self.steps { Console.write("\n" + table.text) }
    }
    try page.write(model) { page in
      page.add("Time", .facts(report.rows))
      page.add("Steps", times: table.reported, titles: StepTable.reportedTitles)
      page.add(document.model, customLayers: options.engine.customLayers)
    }
  }

  /// The shorter of two executions of each step.
  private static func shortest(_ a: [StepRecord], _ b: [StepRecord]) -> [StepRecord] {
    if a.count != b.count { return b }
    return zip(a, b).map { $0.seconds < $1.seconds ? $0 : $1 }
  }

  /// The largest difference of any output, relative to its largest value.
  private func largestError(of results: [String: Tensor], against exact: [String: Tensor]) -> Float
  {
    var largest: Float = 0
    for (name, tensor) in exact {
      let most = tensor.elements.reduce(0) { max($0, abs($1)) }
      for (value, expected) in zip(results[name]?.elements ?? [], tensor.elements)
      where value != expected && !(value.isNaN && expected.isNaN) {
        let error = abs(value - expected) / most
        if error > largest || error.isNaN { largest = error }
      }
    }
    return largest
  }

  private func blobs(_ predictor: Predictor, _ document: Model) throws -> [String: Tensor] {
    guard inputs.isEmpty else {
      let source = try InputSource.only(inputs, for: document, command: "bench")
      return try predictor.interface.blobs(source.read(for: document, hooks: predictor.hooks))
    }
    return try predictor.randomBlobs(seed: engine.seed)
  }
}

extension Duration {
  var milliseconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) * 1e3 + Double(attoseconds) * 1e-15
  }
}
