struct ConvertCommand: SourceCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Converts a network to Core ML or ONNX, or an .mlmodel to a program.",
    discussion: """
      EXAMPLES:
        assay convert model.h5 --preset keras-tf --labels labels.txt
        assay convert model.h5 -o model.mlpackage --target iOS17
        assay convert deploy.prototxt net.caffemodel --preset caffe
        assay convert old.mlmodel -o new.mlpackage --precision float16
        assay convert deploy.prototxt net.caffemodel -o net.onnx
      """)

  @Argument(help: "The network to convert.", completion: .file()) var model: String

  @Argument(help: ModelHelp.weights, completion: .file()) var weights: String?

  @Option(
    name: [.customShort("o"), .long],
    help: .usual("The file to write; default: MODEL.mlmodel, here.", "OUT"),
    completion: .file(extensions: ["mlmodel", "mlpackage", "onnx"]))
  var output: String?

  @OptionGroup(title: "Names and shapes") var sourceNames: NameArguments
  @OptionGroup(title: "Images") var sourceImages: ImageArguments
  @OptionGroup(title: "Classes") var sourceClasses: ClassArguments
  @OptionGroup(title: "Layers") var sourceLayers: LayerArguments
  @OptionGroup(title: "Metadata") var sourceMetadata: MetadataArguments
  @OptionGroup var weightPrecision: WeightPrecisionArguments
  @OptionGroup var recipe: RecipeArguments
  @OptionGroup(title: "Detection", visibility: .advanced) var detector: DetectorArguments
  @Flag(
    help: .advanced(
      "Write a pipeline that decodes a detector's boxes and suppresses overlapping ones, with the outputs that Vision needs for VNRecognizedObjectObservation."
    ))
  var visionBoxes = false
  @OptionGroup(title: "ML Programs") var program: MLProgramArguments
  @OptionGroup(title: "ONNX", visibility: .advanced) var onnx: ONNXArguments

  @Option(
    help: .advanced(
      "How to write LSTMs: with forgetBias false (ignore), or, as the specification says, with forgetBias true and a bias that is smaller by 1 (add). Of an .mlmodel, how to read the field."
    ))
  var forgetBias = ForgetBias.ignore

  @OptionGroup(title: "Comparison") var comparison: ConversionCheckArguments

  @OptionGroup var report: ReportArguments

  @OptionGroup var plugins: PluginArguments

  @Flag(help: "Print what each layer becomes, and write nothing.") var dryRun = false

  @Flag(help: .advanced("Print each layer as it is converted.")) var verbose = false

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    if let output { try ModelOutput.validate(output, isConversion: true) }
    let writesONNX = output.map(ONNXModel.isONNX) ?? false
    if program.isGiven, let output, !ModelPackage.isPackage(output), !writesONNX {
      throw ValidationError(
        "--keep-float32, --fixed-sizes and --states are for programs: write an .mlpackage")
    }
    if !program.kept.layers.isEmpty, weightPrecision.precision != .float16 {
      throw ValidationError("--keep-float32 needs --precision float16")
    }
    if visionBoxes, let output, !output.hasSuffix(".mlmodel") {
      throw ValidationError("--vision-boxes writes an .mlmodel")
    }
    try onnx.validate(writesONNX: writesONNX)
    if comparison.prove && dryRun {
      throw ValidationError("--prove runs what --dry-run only plans")
    }
    if comparison.inputs.isEmpty, comparison.expected != nil {
      throw ValidationError("--expected FILE needs --inputs INPUT")
    }
  }

  func run() throws {
    global.apply(verbose: verbose)
    let destination = try destination()
    try inFile(model) { try convert(to: destination) }
  }

  /// The file to write: the one from `-o`, or a new one named after the model.
  private func destination() throws -> String {
    if let output { return output }
    let isProgram = program.isGiven || !dryRun && !ModelFiles(model).isSource
    // The name of a model function's file precedes the colon.
    let name = model.firstRange(of: ".py:").map { model[..<$0.lowerBound] + ".py" } ?? model
    return try ModelOutput.standard(for: name, isProgram: isProgram, mayExist: dryRun)
  }

  private func convert(to destination: String) throws {
    let registry = try plugins.customLayers()
    var reader = ModelReader(source, registry, global, recipe: recipe.recipe)
    reader.precision = weightPrecision.precision
    reader.forgetBias = forgetBias
    reader.detector = detector
    reader.describesBoxes = visionBoxes
    reader.resetsAfter = ONNXModel.isONNX(destination) || ModelPackage.isPackage(destination)
    if verbose { reader.onVisit = { Console.note(Console.escaped($0)) } }
    if dryRun {
      reader.onPlan = { plan in
        let report = PlanReport(plan: plan, file: model)
        Console.write(report.text)
        guard let result = try report.result() else { throw ExitCode.success }
        return result
      }
    }
    let progress = Progress("assay convert", enabled: !global.quiet && !verbose && !dryRun)
    defer { progress.finish() }
    reader.progress = progress
    let files = ModelFiles(model, weights: weights)
    var result = try reader.read(
      files,
      refusing: source.given(exceptForPrograms: true) + (recipe.recipe == nil ? [] : ["--recipe"])
        + (detector.mode == nil ? [] : ["--detect"]) + (visionBoxes ? ["--vision-boxes"] : []))
    let writesONNX = ONNXModel.isONNX(destination)
    let writesProgram = ModelPackage.isPackage(destination) || writesONNX
    if !result.isSource {
      try require(
        writesProgram && !dryRun && !comparison.prove, .mismatch, "is already a Core ML model",
        hint: result.model.firstTypeThatDoesNotRun.map { Model.remedy(forType: $0) }
          ?? (result.model.isMLProgram
            ? "an ML Program does not become a network; convert it to ONNX with -o FILE.onnx"
            : "convert it to an ML Program with -o FILE.mlpackage")
          + ", or change it with `assay edit`")
      if forgetBias == .add { result.model.forgetBias = .add }
    }
    guard !dryRun else { return }
    var summary = ConversionSummary(
      model: result.model, files: [model] + (weights.map { [$0] } ?? []), customLayers: registry)
    var options = Comparison.Options()
    options.engine.customLayers = registry
    if !result.isSource { Console.warnOfValues(&options.engine.hooks, file: model) }
    if comparison.prove, let origin = result.origin {
      try comparison.prove(origin, result.model, options, file: model)
    }
    let isHalf = weightPrecision.precision == .float16
    if writesONNX { onnx.prepare(&result.model) }
    let network = result.model
    // Nothing that is in a pipeline becomes ONNX.
    let isFinal = result.model.isMLProgram || result.model.type?.pipeline != nil
    if writesProgram, !(writesONNX && isFinal) {
      result.model = try program.program(
        of: network, isSource: result.isSource, isHalf: isHalf, target: source.target,
        inputs: comparison.inputs, forONNX: writesONNX, options.predictor)
    }
    summary.written = writesONNX ? nil : result.model
    if let expected = comparison.expected {
      options.topOfScores = 5
      summary.check = try comparison.compare(
        result.model, with: expected, options, file: model, quiet: global.quiet)
    } else if !comparison.inputs.isEmpty, writesProgram {
      try comparison.compare(
        result.model, with: network, options, isHalf: isHalf, file: model, quiet: global.quiet)
    } else if !comparison.inputs.isEmpty, !comparison.prove {
      throw ModelError(
        .usage, "--inputs INPUT needs --expected FILE or --prove",
        hint: "an .mlpackage is compared with the network that it is made from")
    }
    if writesONNX {
      let model = try onnx.model(of: result.model, names: network.namesInProgram)
      try model.write(to: destination, isExternal: onnx.isExternal)
      return Console.wrote(destination, always: output == nil)
    }
    if visionBoxes { result.model = try result.model.withVisionBoxes(customLayers: registry) }
    try write(result, summary, to: destination)
  }

  private func write(
    _ result: ModelReader.Document, _ summary: ConversionSummary, to path: String
  ) throws {
    let progress = Progress("assay convert", enabled: !global.quiet)
    try inFile(path) {
      defer { progress.finish() }
      try result.model.write(
        to: path, onProgress: { progress.update($0 >> 20, of: $1 >> 20, unit: " MB") })
    }
    if result.isSource, Console.hasReader {
      Console.note(String(summary.text(width: Terminal.errorWidth).dropLast()))
    }
    // The user did not choose the file name.
    Console.wrote(path, always: output == nil)
    try report.write(model) { page in
      page.add(result.model, customLayers: summary.customLayers)
      page.add(result.plan, notes: result.notes, facts: summary.rows)
      if let comparison = summary.check?.comparison { page.add(comparison.outputs) }
    }
  }
}
