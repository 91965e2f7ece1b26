import ArgumentParser
import Assay

struct UpgradeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upgrade", abstract: "Converts the network in an .mlmodel to an ML Program.",
    discussion: """
      EXAMPLES:
        assay upgrade old.mlmodel -o new.mlpackage
        assay upgrade old.mlmodel -o new.mlpackage --target iOS17 --precision float16
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
    help: ArgumentHelp(
      "Whether the field forgetBias of an LSTM adds 1 to its bias (add) or not (ignore)."
    ))
  var forgetBias = ForgetBias.ignore

  @OptionGroup var global: GlobalOptions

  func run() throws {
    global.apply()
    let upgraded = try inFile(model) {
      try program.program(
        of: Model(contentsOf: model), isHalf: precision == .float16,
        addsForgetBias: forgetBias == .add)
    }
    try upgraded.write(to: destination)
    Console.wrote(destination)
  }
}
