import ArgumentParser
import Assay

struct UpgradeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upgrade", abstract: "Converts the network in an .mlmodel to an ML Program.",
    discussion: """
      EXAMPLES:
        assay upgrade old.mlmodel -o new.mlpackage
        assay upgrade old.mlmodel -o new.mlpackage --target iOS17 --precision float16
        assay upgrade old.mlmodel -o new.mlpackage --precision float16 --check a.png
        assay diff old.mlmodel new.mlpackage

      The interface, classes, metadata and preprocessing are kept, and compressed weights stay \
      compressed. One error lists all layers for which ML Programs have no operations.
      """)

  @Argument(
    help: "The model: a neural network, classifier, regressor or pipeline.", completion: .file())
  var model: String

  @Option(
    name: .customShort("o"),
    help: ArgumentHelp("The .mlpackage to write.", valueName: "OUT.mlpackage"),
    completion: .file(extensions: ["mlpackage"]))
  var destination: String

  @OptionGroup(title: "ML Programs") var program: MLProgramArguments

  @Option(help: "Precision of weights and computations; default: float32.")
  var precision: PrecisionArguments.Floats?

  @Option(
    name: .customLong("check"),
    help: ArgumentHelp(
      "Run both on this input, or the files of this folder, and compare before writing. With --precision float16, layers whose values exceed it compute in single precision; repeatable.",
      valueName: "INPUT"),
    completion: .file())
  var checkInputs: [String] = []

  @Option(
    help: ArgumentHelp(
      "Whether the field forgetBias of an LSTM adds 1 to its bias (add) or not (ignore)."
    ))
  var forgetBias = ForgetBias.ignore

  @OptionGroup var global: GlobalOptions

  func run() throws {
    global.apply()
    var options = Comparison.Options()
    options.forgetBias = forgetBias
    Console.warnOfValues(&options.engine.hooks, file: model)
    let upgraded = try inFile(model) {
      let network = try Model(contentsOf: model)
      if !global.quiet { Console.warn(of: try network.doubts(), file: model) }
      let upgraded = try program.program(
        of: network, isHalf: precision == .float16, inputs: checkInputs, options.predictor)
      if !checkInputs.isEmpty { try check(network, upgraded, options) }
      return upgraded
    }
    try upgraded.write(to: destination)
    Console.wrote(destination)
  }

  /// - Throws: `ExitCode` if the program predicts something else than the network.
  private func check(
    _ network: Model, _ upgraded: Model, _ options: Comparison.Options
  ) throws {
    var options = options
    if precision == .float16 { options.tolerances = Tolerances(Self.halfTolerance) }
    let matches: Bool
    if let list = try ManyInputs.list(checkInputs, for: network, expected: nil) {
      let pair = try ModelPair(
        network, upgraded, blobs: ModelDifference(network, upgraded).blobs, options)
      let (summary, loop) = try ModelDiffArguments.summary(
        pair, network, list, options.images, options.engine.hooks, title: "assay upgrade",
        quiet: global.quiet)
      matches = summary.matches && summary.notCompared.isEmpty
      if !matches {
        Console.write(
          ModelDifferenceText(ModelComparison(try ModelDifference(network, upgraded), summary))
            .text())
      }
      try loop.conclude()
    } else {
      var all = ModelComparison.Options()
      all.comparison = options
      let comparison = try ModelComparison(network, upgraded, inputs: checkInputs, options: all)
      matches = comparison.matches
      if !matches { Console.write(ModelDifferenceText(comparison).text()) }
    }
    if matches { return }
    Console.report(
      ModelError(
        .mismatch, "the program does not predict what the network does", file: model,
        hint: precision == .float16
          ? "nothing was written; --keep-float32 keeps layers in single precision"
          : "nothing was written; omit --check to write the program anyway"))
    throw ExitCode(1)
  }

  /// Every layer rounds its results to eleven bits, whose errors add up.
  private static var halfTolerance: Tolerance {
    var tolerance = Tolerance(relative: 2e-2, absolute: 2e-2)
    tolerance.isScaled = true
    return tolerance
  }
}
