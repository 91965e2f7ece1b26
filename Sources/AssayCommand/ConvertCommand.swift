import ArgumentParser
import Assay

struct ConvertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert", abstract: "Converts a Keras, Caffe or Darknet network to an .mlmodel.",
    discussion: """
      MODEL is told by its content: a Keras .h5 or .keras, an architecture .json with WEIGHTS; a Caffe \
      .prototxt with its .caffemodel or .caffemodel.h5, in either order, alone where no layer has \
      weights, or a .caffemodel alone; a Darknet .cfg with .weights. Layers that cannot be converted \
      are listed all at once, before anything is written.
      """)

  @Argument(help: "The network.", completion: .file())
  var model: String

  @Argument(help: "Weights of an architecture .json, a .prototxt or a .cfg.", completion: .file())
  var weights: String?

  @Option(
    name: .customShort("o"), help: ArgumentHelp("The .mlmodel to write.", valueName: "OUT.mlmodel"),
    completion: .file(extensions: ["mlmodel"]))
  var destination: String?

  @OptionGroup(title: "Interface") var interface: InterfaceArguments
  @OptionGroup(title: "Images") var images: ImageArguments
  @OptionGroup(title: "Classifier") var classifier: ClassifierArguments
  @OptionGroup(title: "Caffe") var caffe: CaffeArguments
  @OptionGroup(title: "Metadata") var metadata: MetadataArguments

  @Option(
    help: ArgumentHelp(
      "How unknown layers become custom layers: a JSON file of rules, or allow.",
      valueName: "FILE.json|allow"),
    completion: .file(extensions: ["json"]))
  var customLayers: String?

  @Option(
    help:
      "A Keras Lambda whose code can be read becomes Core ML's layers: auto, or off; auto unless --custom-layers is allow. Nothing of it is run."
  )
  var lambda: Lambda?

  enum Lambda: String, ExpressibleByArgument, CaseIterable {
    case auto
    case off
  }

  @Option(help: "Precision of the weights.")
  var weightsPrecision = Precision.float32

  enum Precision: String, ExpressibleByArgument, CaseIterable {
    case float32
    case float16
  }

  @Option(
    help: ArgumentHelp(
      "What LSTMs are written with: forgetBias false, or true and 1 less in the bias, by the letter of the specification."
    ))
  var forgetBias = ForgetBias.ignore

  @Option(
    help: ArgumentHelp(
      "The latest version of the specification that the model may need. Layers of later ones become "
        + "earlier ones where they can; what cannot is named.", valueName: "N"))
  var maxSpec: Int?

  @Flag(help: "Trainable layers become updatable.")
  var respectTrainable = false

  @Option(
    name: .customLong("check"),
    help: ArgumentHelp("Run the result on this input and compare.", valueName: "INPUT"),
    completion: .file())
  var checkInputs: [String] = []

  @Option(
    help: ArgumentHelp("What the source framework answered, for --check.", valueName: "FILE"),
    completion: .file())
  var expected: String?

  @OptionGroup var plugins: PluginArguments

  @Flag(help: "Print the plan only: every layer, and what it becomes.")
  var dryRun = false

  @Flag(help: "A line a layer as it is visited.")
  var verbose = false

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    if destination == nil && !dryRun { throw ValidationError("give -o OUT.mlmodel, or --dry-run") }
    if let maxSpec, !(1...SpecificationVersion.newest).contains(maxSpec) {
      throw ValidationError("--max-spec takes a version from 1 to \(SpecificationVersion.newest)")
    }
    if checkInputs.isEmpty != (expected == nil) {
      throw ValidationError("--check INPUT and --expected FILE belong together")
    }
  }

  func run() throws {
    global.apply()
    try inFile(model) { try convert() }
  }

  private func convert() throws {
    var options = try conversionOptions()
    if verbose { options.onVisit = { Console.note(Console.escaped($0)) } }
    let source = try ModelSource(contentsOf: model, weights: weights)
    let registry = try plugins.customLayers()
    var result = try source.convert(options, customLayers: registry)
    if !global.quiet {
      for note in result.notes { Console.warn(note) }
      Console.warnOfWeights(result.model, file: source.weightsFile(model, weights))
    }
    if forgetBias == .add { result.model = try result.model.withForgetBiasInField() }
    if weightsPrecision == .float16 { result.model = try result.model.withHalfPrecisionWeights() }
    if let maxSpec { try result.model.requireVersion(atMost: maxSpec) }
    result.model.specificationVersion = result.model.minimumSpecificationVersion
    try result.model.requireWritable()
    if dryRun {
      Console.write(Self.planText(result.plan))
      return
    }
    guard let destination else { return }
    if let expected {
      var options = Comparison.Options()
      options.forgetBias = forgetBias
      options.engine.customLayers = registry
      let report = try Comparison.compare(
        result.model, inputs: checkInputs, expected: expected, options: options)
      guard report.matches else {
        Console.write(ComparisonText(report).text())
        Console.report(
          ModelError(
            .mismatch, "the converted network does not answer what \(expected) expects",
            file: model,
            hint: "nothing was written; without --check the model is written all the same"))
        throw ExitCode(1)
      }
    }
    try inFile(destination) { try result.model.write(to: destination) }
  }

  private static func planText(_ plan: [PlanEntry]) -> String {
    var table = TextTable([("", .left), ("", .left), ("", .left)])
    for entry in plan {
      let target = entry.becomes.isEmpty ? "nothing" : entry.becomes.joined(separator: ", ")
      table.add(
        [
          Console.escaped(entry.layer), Console.escaped(entry.layerClass),
          "→ " + Console.escaped(target),
        ])
    }
    return table.text
  }

  private func conversionOptions() throws -> ConversionOptions {
    var options = ConversionOptions()
    options.inputNames = interface.inputNames
    options.outputNames = interface.outputNames
    for shape in interface.inputShapes { options.inputShapes[shape.name] = shape.sizes }
    options.arrayType = interface.arrayType == .double ? .double : .float32
    options.imageInputs = images.imageInputs
    options.imageOutputs = images.imageOutputs
    options.preprocessing = images.preprocessing
    options.preprocessing.meanImage = try caffe.meanImages
    options.networkState = caffe.networkState
    options.classifier = try classifier.options()
    options.metadata = metadata.options
    if let recipe = images.recipe {
      options.metadata.userDefined.merge(PictureOptions.metadata(for: recipe)) { given, _ in given }
    }
    options.respectTrainable = respectTrainable
    options.maximumVersion = maxSpec
    options.readsFormulas = lambda.map { $0 == .auto } ?? (customLayers != "allow")
    if let customLayers { options.customLayers = try CustomLayerRules(argument: customLayers) }
    return options
  }
}

extension CustomLayerRules {
  /// The word after `--custom-layers`.
  init(argument: String) throws {
    self = argument == "allow" ? .allow : try CustomLayerRules(contentsOf: argument)
  }
}
