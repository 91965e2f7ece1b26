struct CompressCommand: SourceCommand {
  static let configuration = CommandConfiguration(
    commandName: "compress", abstract: "Stores a model's weights in fewer bits.",
    discussion: """
      EXAMPLES:
        assay compress model.mlmodel -o half.mlmodel --precision float16
        assay compress model.mlmodel -o small.mlmodel --bits 8
        assay compress model.mlmodel -o best.mlmodel --inputs images --max-error 0.01
        assay compress model.mlpackage -o small.mlpackage --bits 4 --mode kmeans_lut

      Choose the precision: half precision, or codes of 1 to 8 bits with a scale per output channel \
      (linear, linear_symmetric) or a table per weight (linear_lut, kmeans_lut, or a file). Or choose \
      the result: --max-error, --min-agreement and --max-size search for the precision of each layer \
      that keeps the largest error of the outputs, the agreement of the best class, or the size of \
      the weights within the limit.

      --inputs names the inputs to measure on, and prints how much the outputs change. With codes, it \
      also corrects the biases: codes shift the mean of a layer's outputs, which is much of the error \
      at few bits.

      Codes apply to matrices and kernels; biases stay as they are. Batch normalization, scale and \
      bias layers are folded into their neighbors first. Weights that already use fewer bits keep \
      their storage, so that you can compress a file in several steps; --precision float32 expands all.

      The weights of an ML Program are constants of its operations. Codes need iOS 16; linear codes \
      with an offset, tables per group and scales per block need iOS 18.

      \(ModelHelp.discussion)
      """)

  @Argument(help: ModelHelp.model, completion: .file()) var model: String

  @Argument(help: ModelHelp.weights, completion: .file()) var weights: String?

  @Option(
    name: .output, help: .usual("The .mlmodel or .mlpackage to write.", "OUT"),
    completion: .file(extensions: ["mlmodel", "mlpackage"]))
  var destination: String

  @OptionGroup(title: "Names and shapes", visibility: .advanced) var sourceNames: NameArguments
  @OptionGroup(title: "Images", visibility: .advanced) var sourceImages: ImageArguments
  @OptionGroup(title: "Classes", visibility: .advanced) var sourceClasses: ClassArguments
  @OptionGroup(title: "Layers", visibility: .advanced) var sourceLayers: LayerArguments
  @OptionGroup(title: "Metadata", visibility: .advanced) var sourceMetadata: MetadataArguments
  @OptionGroup(title: "Precision") var target: PrecisionArguments
  @OptionGroup(title: "ML Programs") var program: ProgramCompressionArguments
  @OptionGroup(title: "Selection") var selection: SelectionArguments
  @OptionGroup(title: "By result") var search: SearchArguments

  @Flag(
    name: .customLong("no-fold"),
    help: .advanced(
      "Do not fold batch normalization, scale and bias layers into their neighbors first."))
  var keepsBatchnorm = false

  @OptionGroup(title: "Images") var images: ResizeArguments
  @OptionGroup(title: "Engine") var engine: EngineArguments

  @Flag(help: "Print every folded layer.") var verbose = false

  @Flag(help: "Print JSON.") var json = false

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    try ModelOutput.validate(destination)
    if (target.isGiven ? 1 : 0) + (program.sparsity != nil ? 1 : 0) + search.goals.count != 1 {
      throw ValidationError(
        "give one of --precision, --bits, --mode FILE, --sparsity, --max-error, --min-agreement and "
          + "--max-size")
    }
    if !search.goals.isEmpty, search.inputs.isEmpty {
      throw ValidationError("--max-error, --min-agreement and --max-size need --inputs")
    }
    if search.inputs.isEmpty, search.report != nil {
      throw ValidationError("--report needs --inputs")
    }
  }

  func run() throws {
    global.apply(verbose: verbose)
    let compile = try engine.compileOptions(for: model)
    let reader = ModelReader(
      source, compile.customLayers, global, recipe: images.recipe, inputs: search.inputs)
    let read = try reader.read(ModelFiles(model, weights: weights))
    if !read.isSource { OpenedFiles.allowReplacing(model) }
    let document = read.model
    let isProgram = document.typeName == "mlProgram"
    try require(
      isProgram || !document.networks.isEmpty, .unsupported,
      "the model has no neural network to compress", file: model,
      hint: document.pipelineModels.contains(where: \.isMLProgram)
        ? "compress ML Programs before `assay merge` makes them a pipeline" : nil)
    try require(
      isProgram || !program.isGiven, .usage,
      "--group-size and --sparsity are for ML Programs", file: model,
      hint: "assay convert writes a network as a program")
    if !isProgram { try inFile(model) { try selection.requireLayers(in: document) } }
    var text: CompressionText
    // The model whose weights are compressed.
    var base = document
    if let goal = search.goals.first {
      text = try inFile(model) { try self.searched(document, goal, compile, &base) }
    } else if isProgram {
      text = try inFile(model) { try self.compressedProgram(document) }
    } else {
      var rules = selection.rules
      rules.precision = try target.weightPrecision()
      text = try inFile(model) {
        let (folded, folds) =
          keepsBatchnorm
          ? (document, [])
          : try document.withFoldedBatchnorm(keepsScales: rules.precision.wantsChannelScales)
        base = folded
        if !search.inputs.isEmpty, target.precision == nil {
          rules.channelMeans = try self.channelMeans(folded, compile)
        }
        let progress = self.progress
        defer { progress.finish() }
        let (compressed, layers) = try folded.compressed(rules) {
          progress.update($0, of: $1, unit: " layers")
        }
        return CompressionText(compressed, from: document, folds: folds, layers: layers)
      }
    }
    if let report = search.report {
      try inFile(model) { try self.write(report, &text, of: document, compile) }
    }
    try inFile(model) { try text.model.requireValid() }
    text.listsFolds = verbose
    if !search.inputs.isEmpty, !global.quiet || json {
      text.change = try inFile(model) { try change(document, text.model, compile) }
    }
    try inFile(destination) {
      let model = try text.model.storingFunctionInterface().withoutCopiedInterface
      var isPrinted = false
      // Called before a file gets its final name, but after a package is written.
      func printErrors(of written: Model) throws {
        text.layers = try text.layers.measured(in: written, against: base)
        isPrinted = true
        if json || !global.quiet { Console.write(text.text, orJSON: text.json, json) }
      }
      try model.write(to: destination, verify: { try printErrors(of: Model(bytes: $0)) })
      if !isPrinted {
        let isPackage = ModelPackage.isPackage(destination)
        try printErrors(of: isPackage ? Model(uncheckedContentsOf: destination) : model)
      }
    }
    Console.wrote(destination)
    if let report = search.report { Console.wrote(report) }
  }

  private func compressedProgram(_ document: Model) throws -> CompressionText {
    var rules = ProgramCompressionRules(selection.rules)
    rules.rules.precision = try target.weightPrecision()
    rules.groupSize = program.groupSize
    rules.sparsity = program.sparsity
    let progress = self.progress
    defer { progress.finish() }
    let (compressed, weights) = try document.compressedProgram(rules) {
      progress.update($0, of: $1, unit: " operations")
    }
    try selection.requireWeights(weights)
    return CompressionText(compressed, from: document, folds: [], layers: weights)
  }

  /// The change of the outputs on the given inputs.
  private func change(
    _ document: Model, _ compressed: Model, _ compile: CompileOptions
  ) throws -> ComparisonSummary {
    var options = Comparison.Options(try self.options(document, compile))
    options.topOfScores = 5
    var loop = InputLoop("assay compress", quiet: global.quiet || json)
    let summary = try ModelDiffArguments.summary(
      try ModelPair(document, compressed, options), document,
      try InputList(search.inputs, for: document), options, &loop)
    try loop.conclude()
    return summary
  }

  private func channelMeans(
    _ document: Model, _ compile: CompileOptions
  ) throws -> [String: [Double]] {
    let options = try self.options(document, compile)
    let progress = self.progress
    defer { progress.finish() }
    return try ChannelMeans(document, inputs: search.inputs, options: options) {
      progress.update($0, of: $1)
    }.means
  }

  private func options(_ document: Model, _ compile: CompileOptions) throws -> Predictor.Options {
    engine.prediction(compile, search.layout, try images.options(for: document))
  }

  /// A new progress line on each access.
  private var progress: Progress {
    Progress("assay compress", enabled: !global.quiet && !Progress.isDisturbed(by: json))
  }

  private func searched(
    _ document: Model, _ goal: CompressionSearch.Goal, _ compile: CompileOptions,
    _ base: inout Model
  ) throws -> CompressionText {
    let progress = self.progress
    defer { progress.finish() }
    let result = try search(document, goal, compile, progress).run()
    base = result.base
    var text = CompressionText(
      result.model, from: document, folds: result.folds, layers: result.layers)
    text.points = result.points
    text.chosen = result.chosen
    return text
  }

  private func search(
    _ document: Model, _ goal: CompressionSearch.Goal, _ compile: CompileOptions,
    _ progress: Progress
  ) throws -> CompressionSearch {
    var options = CompressionSearch.Options(goal)
    options.rules = selection.rules
    options.mode = target.codes
    options.foldsBatchnorm = !keepsBatchnorm
    options.predictor = try self.options(document, compile)
    return try CompressionSearch(document, inputs: search.inputs, options: options) {
      progress.update($0, $1)
    }
  }

  /// Writes the report, with all precisions side by side unless there was a search.
  private func write(
    _ report: String, _ text: inout CompressionText, of document: Model, _ compile: CompileOptions
  ) throws {
    if search.goals.isEmpty {
      let progress = self.progress
      defer { progress.finish() }
      text.points = try search(document, .size(.max), compile, progress).variants()
      let byteCount = text.layers.reduce(0) { $0 + $1.bytesAfter }
      text.chosen = text.points.first { $0.byteCount == byteCount }
    }
    let page = text.report(
      title: ReportArguments.name(model), destination: destination, goal: search.goalText)
    try AtomicFile.write(to: report) { try $0.write(page.html) }
  }
}
