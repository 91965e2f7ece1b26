import ArgumentParser
import Assay

struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect", abstract: "Shows what a model is made of.",
    discussion: "Works on .mlmodel files and on what `convert` reads.")

  @Argument(help: "The model.", completion: .file())
  var model: String

  @Argument(help: "Weights of an architecture .json, a .prototxt or a .cfg.", completion: .file())
  var weights: String?

  @Flag(help: "The description as protobuf text.")
  var spec = false

  @Flag(help: "As JSON.")
  var json = false

  @Option(
    help: ArgumentHelp(
      "The steps of a prediction on this machine; --plan=PASS the graph after the first run of one "
        + "pass, --plan=lowering before all of them.", valueName: "PASS"))
  var plan: String?

  @OptionGroup var passes: PassArguments

  @Option(
    help: ArgumentHelp("Write the weights into this folder instead.", valueName: "DIR"),
    completion: .directory)
  var exportWeights: String?

  @OptionGroup(title: "Files of weights") var weightFiles: WeightArguments

  @Option(
    help: ArgumentHelp(
      "Write the Swift class of each custom layer, and the Metal kernel of an element-wise one, for "
        + "an app.", valueName: "DIR"),
    completion: .directory)
  var swiftStubs: String?

  @OptionGroup var plugins: PluginArguments

  @OptionGroup var global: GlobalOptions

  func run() throws {
    global.apply()
    let registry = try plugins.customLayers()
    if let exportWeights { return try export(to: exportWeights, registry) }
    let source = try inFile(model) { try ModelSource(contentsOf: model, weights: weights) }
    if let plan { return try inFile(model) { try printPlan(plan, of: source, registry) } }
    let document = try inFile(model) { try source.inspectedModel(customLayers: registry) }
    if !global.quiet {
      Console.warnOfWeights(document, file: source.weightsFile(model, weights))
    }
    if let swiftStubs {
      let stubs = AppStubs(document.customLayerClasses(registry))
      try require(!stubs.files.isEmpty, .unsupported, "the model has no custom layers", file: model)
      try stubs.write(to: swiftStubs)
      if !global.quiet {
        for file in stubs.files { Console.note("wrote \(swiftStubs)/\(file.path)") }
      }
      return
    }
    if spec {
      Console.write(try document.descriptionText)
      return
    }
    let text = InspectionText(document, customLayers: registry)
    if json {
      Console.print(text.json().text)
    } else {
      Console.write(text.text())
    }
  }

  /// The option's value where it is given without one.
  private static let wholePlan = "final"

  /// Arguments of the program in which `--plan` has a value: the parser knows no option that may do
  /// without.
  static func completed(_ arguments: [String]) -> [String] {
    guard arguments.first == configuration.commandName else { return arguments }
    let end = arguments.firstIndex(of: "--") ?? arguments.count
    return arguments[..<end].map { $0 == "--plan" ? "--plan=\(wholePlan)" : $0 }
      + arguments[end...]
  }

  private func printPlan(
    _ stage: String, of source: ModelSource, _ registry: CustomLayerRegistry
  ) throws {
    var options = Predictor.Options()
    options.engine.customLayers = registry
    options.engine.withoutPasses = Set(passes.without)
    let document = try source.timedModel(seed: 0, rules: .allow, customLayers: registry).model
    let predictor = try Predictor(model: document, options: options)
    for plan in try predictor.plans(after: stage == Self.wholePlan ? nil : stage) {
      let text = PlanText(plan)
      if json { Console.print(text.json.text) } else { Console.write(text.text) }
    }
  }

  private func export(to folder: String, _ registry: CustomLayerRegistry) throws {
    let written = try inFile(model) {
      let document = try ModelSource(contentsOf: model, weights: weights)
        .weightedModel(customLayers: registry)
      return try weightFiles.files.write(document, to: folder)
    }
    if !global.quiet {
      Console.note(
        "\(groupedText(written.weights)) weights in \(groupedText(written.files)) files")
    }
  }
}
