import ArgumentParser
import Assay

struct ConvertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert", abstract: "Converts a Keras, Caffe or Darknet network to an .mlmodel.",
    discussion: """
      EXAMPLES:
        assay convert model.h5 -o model.mlmodel --image-input image
        assay convert deploy.prototxt net.caffemodel -o net.mlmodel --class-labels labels.txt
        assay convert model.h5 --dry-run

      The format is detected from the content: a Keras .h5 or .keras file, or an architecture .json \
      with its weights; a Caffe .prototxt with its .caffemodel or .caffemodel.h5, in either order, or \
      a .caffemodel by itself; a Darknet .cfg with its .weights. One error lists all layers that \
      cannot be converted, before anything is written.
      """)

  @Argument(help: "The network to convert.", completion: .file())
  var model: String

  @Argument(help: "Its weights, if they are in a separate file.", completion: .file())
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
      "Convert unknown layers to custom layers: by a JSON file of rules, or all (allow).",
      valueName: "FILE.json|allow"),
    completion: .file(extensions: ["json"]))
  var customLayers: String?

  @Option(
    help:
      "Convert Keras Lambdas whose code can be read to Core ML layers: auto, or off; auto unless --custom-layers is allow. The code is never run."
  )
  var lambda: Lambda?

  enum Lambda: String, ExpressibleByArgument, CaseIterable {
    case auto
    case off
  }

  @Option(
    name: [.long, .customLong("weights-precision")], help: "Precision of the weights.")
  var precision = Precision.float32

  enum Precision: String, ExpressibleByArgument, CaseIterable {
    case float32
    case float16
  }

  @Option(
    help: ArgumentHelp(
      "How to write LSTMs: with forgetBias false (ignore), or with forgetBias true and a bias reduced by 1 (add), as the specification says."
    ))
  var forgetBias = ForgetBias.ignore

  @Option(
    help: ArgumentHelp(
      "The latest version of the specification that the model may need. Layers of later ones become "
        + "earlier ones where they can; what cannot is named.", valueName: "N"))
  var maxSpec: Int?

  @Flag(help: "Mark trainable layers as updatable.")
  var respectTrainable = false

  @Option(
    name: .customLong("check"),
    help: ArgumentHelp(
      "Run the result on this input and compare it with --expected before writing.",
      valueName: "INPUT"),
    completion: .file())
  var checkInputs: [String] = []

  @Option(
    help: ArgumentHelp("The predictions of the source framework, for --check.", valueName: "FILE"),
    completion: .file())
  var expected: String?

  @OptionGroup var plugins: PluginArguments

  @Flag(help: "Print what each layer becomes, and write nothing.")
  var dryRun = false

  @Flag(help: "Print each layer as it is visited.")
  var verbose = false

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    if destination == nil && !dryRun { throw ValidationError("add -o OUT.mlmodel, or --dry-run") }
    if let maxSpec, !(1...SpecificationVersion.newest).contains(maxSpec) {
      throw ValidationError("--max-spec takes a version from 1 to \(SpecificationVersion.newest)")
    }
    if checkInputs.isEmpty != (expected == nil) {
      throw ValidationError("--check INPUT and --expected FILE need each other")
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
    var result: ConversionResult
    if dryRun {
      let plan = PlanReport(try source.plan(options, customLayers: registry), file: model)
      Console.write(plan.text)
      guard let planned = try plan.result() else { return }
      result = planned
    } else {
      result = try source.convert(options, customLayers: registry)
    }
    if !global.quiet {
      for note in result.notes { Console.warn(note) }
      Console.warnOfWeights(result.model, file: source.weightsFile(model, weights))
    }
    if forgetBias == .add { result.model = try result.model.withForgetBiasInField() }
    if precision == .float16 { result.model = try result.model.withHalfPrecisionWeights() }
    if let maxSpec { try result.model.requireVersion(atMost: maxSpec) }
    result.model.specificationVersion = result.model.minimumSpecificationVersion
    try result.model.requireWritable()
    guard let destination, !dryRun else { return }
    var summary = ConversionSummary(
      model: result.model, files: [model] + (weights.map { [$0] } ?? []), customLayers: registry)
    if let expected {
      var options = Comparison.Options()
      options.forgetBias = forgetBias
      options.engine.customLayers = registry
      if result.model.givesScores { options.top = 5 }
      let report = try Comparison.compare(
        result.model, inputs: checkInputs, expected: expected, options: options)
      guard report.matches else {
        Console.write(ComparisonText(report).text())
        Console.report(
          ModelError(
            .mismatch, "the converted network does not give the predictions in \(expected)",
            file: model,
            hint: "nothing was written; omit --check to write the model anyway"))
        throw ExitCode(1)
      }
      summary.check = (report, checkInputs)
    }
    try inFile(destination) { try result.model.write(to: destination) }
    if Console.hasReader {
      Console.note(String(summary.text(width: Terminal.errorWidth).dropLast()))
      Console.wrote(destination)
    }
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
      options.metadata.userDefined.merge(ImageOptions.metadata(for: recipe)) { given, _ in given }
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
