struct InspectCommand: SourceCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect", abstract: "Shows the interface, layers and parameters of a model.",
    discussion: """
      EXAMPLES:
        assay inspect model.mlmodel
        assay inspect deploy.prototxt
        assay inspect model.mlmodel --export-weights weights

      \(ModelHelp.discussion) An architecture needs no weights, and unknown layers become custom \
      layers.
      """)

  @Argument(help: ModelHelp.model, completion: .file()) var model: String

  @Argument(help: ModelHelp.weights, completion: .file()) var weights: String?

  @OptionGroup(title: "Names and shapes", visibility: .advanced) var sourceNames: NameArguments
  @OptionGroup(title: "Images", visibility: .advanced) var sourceImages: ImageArguments
  @OptionGroup(title: "Classes", visibility: .advanced) var sourceClasses: ClassArguments
  @OptionGroup(title: "Layers", visibility: .advanced) var sourceLayers: LayerArguments
  @OptionGroup(title: "Metadata", visibility: .advanced) var sourceMetadata: MetadataArguments
  @OptionGroup(visibility: .advanced) var weightPrecision: WeightPrecisionArguments

  @Flag(help: "Print the description as protobuf text, and the operations of an ML Program.")
  var spec = false

  @Flag(help: "Print JSON.") var json = false

  @Option(
    help: .usual(
      "Print the steps of a prediction on this machine; with --plan=PASS, the graph after the first "
        + "run of that pass; with --plan=lowering, the graph before all passes.", "PASS"))
  var plan: String?

  @OptionGroup var program: FunctionArguments

  @OptionGroup var passes: PassArguments

  @Option(help: .usual("Write the weights to this folder.", "DIR"), completion: .directory)
  var exportWeights: String?

  @Option(
    help: .usual(
      "Draw the network's graph: an image, Graphviz, or Markdown with Mermaid.", "FILE.svg|.dot|.md"
    ), completion: .file(extensions: ["svg", "dot", "md"]))
  var graph: String?

  @OptionGroup var report: ReportArguments

  @OptionGroup(title: "Weights files") var weightFiles: WeightArguments

  @Option(
    help: .usual(
      "Write a Swift class for each custom layer, and a Metal kernel for most of them, for "
        + "use in an app.", "DIR"), completion: .directory)
  var swiftStubs: String?

  @OptionGroup var plugins: PluginArguments

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    if let graph, GraphFile(path: graph) == nil {
      throw ValidationError("--graph writes a .svg, .dot or .md")
    }
  }

  func run() throws {
    global.apply()
    if let onnx = try ONNXModel.written(at: model) {
      try require(!json, .usage, "--json is for Core ML models and sources", file: model)
      return Console.write(ONNXText(model: onnx).text)
    }
    let registry = try plugins.customLayers()
    var reader = ModelReader(source, registry, global)
    reader.precision = weightPrecision.precision
    reader.rules = .allow
    // `check` reads all weights; `inspect` does not.
    reader.warnsOfWeights = false
    reader.function = program.function
    if exportWeights == nil {
      reader.missingWeights = plan == nil ? .zeros : .random(RandomWeights(seed: 0))
    }
    let read = try reader.read(ModelFiles(model, weights: weights))
    let document = read.model
    if let exportWeights { return try inFile(model) { try export(document, to: exportWeights) } }
    if let plan { return try inFile(model) { try printPlan(plan, of: document, registry) } }
    if let swiftStubs {
      let stubs = AppStubs(document.customLayerClasses(registry))
      try require(!stubs.files.isEmpty, .unsupported, "the model has no custom layers", file: model)
      try stubs.write(to: swiftStubs)
      if !global.quiet {
        for file in stubs.files { Console.note("wrote \(swiftStubs)/\(file.path)") }
      }
      return
    }
    if graph != nil || report.report != nil {
      if let file = graph.flatMap(GraphFile.init) { try write(document, registry, to: file) }
      return try report.write(model) { $0.add(document, customLayers: registry) }
    }
    if spec {
      Console.write(try document.descriptionText)
      if let text = document.programText { Console.write("\n" + text) }
      return
    }
    let text = InspectionText(document, customLayers: registry)
    Console.write(text.text(), orJSON: text.json, json)
  }

  /// The value of `--plan` if none is given.
  private static let wholePlan = "final"

  /// The arguments with a value for every `--plan`, since the parser does not support options with
  /// an optional value.
  static func completed(_ arguments: [String]) -> [String] {
    guard arguments.first == configuration.commandName else { return arguments }
    let end = arguments.firstIndex(of: "--") ?? arguments.count
    return arguments[..<end].map { $0 == "--plan" ? "--plan=\(wholePlan)" : $0 } + arguments[end...]
  }

  private func printPlan(
    _ stage: String, of document: Model, _ registry: CustomLayerRegistry
  ) throws {
    var options = Predictor.Options()
    options.engine.customLayers = registry
    options.engine.withoutPasses = Set(passes.without)
    let predictor = try Predictor(model: document, options: options)
    for plan in try predictor.plans(after: stage == Self.wholePlan ? nil : stage) {
      let text = PlanText(plan: plan)
      Console.write(text.text, orJSON: text.json, json)
    }
  }

  private func write(
    _ document: Model, _ registry: CustomLayerRegistry, to file: GraphFile
  ) throws {
    let inspection = Inspection(document, customLayers: registry)
    let graph = try NetworkGraph(document, inspection).orThrow(
      ModelError(
        .unsupported, "the model has no layers to draw", file: model,
        hint: document.pipelineModels.isEmpty
          ? nil : "draw the models of the pipeline one by one, or with --report"))
    try file.write(graph, title: model)
  }

  private func export(_ document: Model, to folder: String) throws {
    let written = try weightFiles.files.write(document, to: folder)
    if !global.quiet {
      Console.note(
        "wrote \(counted(written.weights, "weight")) in \(counted(written.files, "file")) to "
          + Console.escaped(folder))
    }
  }
}
