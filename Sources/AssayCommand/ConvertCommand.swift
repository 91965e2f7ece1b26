import ArgumentParser
import Assay

/// The kinds of Core ML model that a conversion can write.
enum ModelFormat: String, CaseIterable, ExpressibleByArgument {
  case network, program
}

struct ConvertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert", abstract: "Converts a Keras, Caffe or Darknet network to Core ML.",
    discussion: """
      EXAMPLES:
        assay convert model.h5 -o model.mlmodel --image-input image
        assay convert deploy.prototxt net.caffemodel -o net.mlmodel --class-labels labels.txt
        assay convert model.h5 -o model.mlpackage --target iOS17 --precision float16
        assay convert model.h5 --dry-run

      The format is detected from the content: a Keras .h5 or .keras file, or an architecture .json \
      with its weights; a Caffe .prototxt with its .caffemodel or .caffemodel.h5, in either order, or \
      a .caffemodel alone; a Darknet .cfg with its .weights. One error lists all layers that \
      cannot be converted, before anything is written.
      """)

  @Argument(help: "The network to convert.", completion: .file())
  var model: String

  @Argument(help: "Its weights, if they are in a separate file.", completion: .file())
  var weights: String?

  @Option(
    name: .customShort("o"),
    help: ArgumentHelp(
      "The .mlmodel, or the .mlpackage of an ML Program, to write.", valueName: "OUT"),
    completion: .file(extensions: ["mlmodel", "mlpackage"]))
  var destination: String?

  @OptionGroup(title: "Conversion") var source: SourceArguments
  @OptionGroup(title: "Conversion") var weightPrecision: WeightPrecisionArguments
  @OptionGroup(title: "Conversion") var recipe: RecipeArguments
  @OptionGroup(title: "ML Programs") var program: MLProgramArguments

  @Option(
    help: ArgumentHelp(
      "What to write: a network or an ML Program; default: a program into an .mlpackage, a network into an .mlmodel.",
      valueName: "FORMAT"))
  var format: ModelFormat?

  @Option(
    help: ArgumentHelp(
      "How to write LSTMs: with forgetBias false (ignore), or, as the specification says, with forgetBias true and a bias that is smaller by 1 (add)."
    ))
  var forgetBias = ForgetBias.ignore

  @Option(
    name: .customLong("check"),
    help: ArgumentHelp(
      "Before writing, run the result on this input, or on the files of this folder, and compare it with --expected.",
      valueName: "INPUT"),
    completion: .file())
  var checkInputs: [String] = []

  @Option(
    help: ArgumentHelp("The predictions of the source framework, for --check.", valueName: "FILE"),
    completion: .file())
  var expected: String?

  @Flag(
    help:
      "Before writing, compare every layer of the result with an interpreter of the source network, on the inputs of --check or on random ones."
  )
  var prove = false

  @OptionGroup var report: ReportArguments

  @OptionGroup var plugins: PluginArguments

  @Flag(help: "Print what each layer becomes, and write nothing.")
  var dryRun = false

  @Flag(help: "Print each layer as it is converted.")
  var verbose = false

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    if destination == nil && !dryRun { throw ValidationError("add -o OUT.mlmodel, or --dry-run") }
    if program.isGiven, !writesProgram {
      throw ValidationError(
        "--target, --keep-float32, --fixed-sizes and --states are for programs: write an "
          + ".mlpackage"
      )
    }
    if prove && dryRun { throw ValidationError("--prove runs what --dry-run only plans") }
    if checkInputs.isEmpty != (expected == nil), !prove || checkInputs.isEmpty {
      throw ValidationError("--check INPUT and --expected FILE need each other")
    }
  }

  func run() throws {
    global.apply(verbose: verbose)
    try inFile(model) { try convert() }
  }

  private func convert() throws {
    let registry = try plugins.customLayers()
    var reader = ModelReader(
      source, registry, global, precision: weightPrecision, recipe: recipe.recipe,
      forgetBias: forgetBias)
    if verbose { reader.onVisit = { Console.note(Console.escaped($0)) } }
    if dryRun {
      reader.onPlan = { plan in
        let report = PlanReport(plan, file: model)
        Console.write(report.text)
        guard let result = try report.result() else { throw ExitCode.success }
        return result
      }
    }
    let progress = Progress("assay convert", enabled: !global.quiet && !verbose && !dryRun)
    defer { progress.finish() }
    reader.progress = progress
    var result = try reader.converted(ModelFiles(model, weights: weights))
    guard let destination, !dryRun else { return }
    var summary = ConversionSummary(
      model: result.model, files: [model] + (weights.map { [$0] } ?? []), customLayers: registry)
    if prove { try proveResult(result, registry) }
    if writesProgram {
      var options = Predictor.Options()
      options.forgetBias = forgetBias
      options.engine.customLayers = registry
      result.model = try program.program(
        of: result.model, isHalf: weightPrecision.precision == .float16, inputs: checkInputs,
        options)
    }
    if let expected {
      var options = Comparison.Options()
      options.forgetBias = forgetBias
      options.engine.customLayers = registry
      options.topOfScores = 5
      if let list = try ManyInputs.list(checkInputs, for: result.model, expected: expected) {
        try check(result.model, list, expected, options)
        return try write(result, summary, to: destination)
      }
      let comparison = try Comparison.compare(
        result.model, inputs: checkInputs, expected: expected, options: options)
      guard comparison.matches else {
        Console.write(ComparisonText(comparison).text())
        throw checkFailure(expected)
      }
      summary.check = (comparison, checkInputs)
    }
    try write(result, summary, to: destination)
  }

  private var writesProgram: Bool {
    format.map { $0 == .program } ?? destination.map(ModelPackage.isPackage) ?? false
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
    if Console.hasReader {
      Console.note(String(summary.text(width: Terminal.errorWidth).dropLast()))
      Console.wrote(path)
    }
    try report.write(model) { page in
      page.add(result.model, customLayers: summary.customLayers)
      page.add(result.plan, notes: result.notes, facts: summary.rows)
      if let comparison = summary.check?.comparison { page.add(comparison.outputs) }
    }
  }

  /// Compares the result with the interpreter of the source network.
  private func proveResult(
    _ result: ModelReader.Document, _ registry: CustomLayerRegistry
  ) throws {
    guard let origin = result.origin else { return }
    var options = Proof.Options()
    options.predictor.forgetBias = forgetBias
    options.predictor.engine.customLayers = registry
    let proof = try origin.proof(of: result.model, inputs: checkInputs, options: options)
    Console.write(ProofText(proof).text(model))
    guard proof.finding == nil else {
      Console.report(
        ModelError(
          .mismatch, "the converted network does not compute what the source does", file: model,
          hint: "nothing was written; omit --prove to write the model anyway"))
      throw ExitCode(1)
    }
  }

  /// The comparison of several inputs.
  private func check(
    _ document: Model, _ list: InputList, _ expected: String, _ options: Comparison.Options
  ) throws {
    let many = try ManyInputs(
      document, list, expected: expected, options: options, title: "assay convert",
      quiet: global.quiet)
    if !many.matches { Console.write(many.text) }
    try many.loop.conclude()
    if !many.matches { throw checkFailure(expected) }
  }

  /// Reports that the predictions differ.
  private func checkFailure(_ expected: String) -> ExitCode {
    Console.report(
      ModelError(
        .mismatch, "the converted network does not give the predictions in \(expected)",
        file: model,
        hint: "nothing was written; omit --check to write the model anyway"))
    return ExitCode(1)
  }
}
