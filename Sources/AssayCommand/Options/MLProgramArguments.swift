import ArgumentParser
import Assay

extension ProgramTarget: ExpressibleByArgument {}

/// How a network is written as an ML Program.
struct MLProgramArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The oldest system that must run the program; default: iOS15, or later if the weights need it.",
      valueName: "SYSTEM"))
  var target: ProgramTarget?

  @OptionGroup var kept: KeptInFloat32Arguments

  @Flag(
    name: .customLong("fixed-sizes"),
    help: "Write only the default sizes of flexible inputs.")
  var hasFixedSizes = false

  @Flag(
    name: .customLong("states"),
    help: ArgumentHelp(
      "Keep the states of recurrent layers inside the program, instead of as inputs and outputs; needs iOS18."
    ))
  var hasStates = false

  var isGiven: Bool { target != nil || !kept.layers.isEmpty || hasFixedSizes || hasStates }

  /// The model as a program, for the oldest system that can hold it.
  ///
  /// - Parameters:
  ///   - inputs: layers whose values on these exceed half precision compute in single precision.
  ///   - predictor: how the model runs on them.
  func program(
    of model: Model, isHalf: Bool, inputs: [String], _ predictor: Predictor.Options
  ) throws -> Model {
    var options = ProgramOptions()
    options.precision = isHalf ? .float16 : .float32
    options.keptInFloat32 = Set(kept.layers)
    if isHalf, !inputs.isEmpty {
      let large = try model.layersBeyondHalf(inputs: inputs, options: predictor)
      if !large.isEmpty {
        Console.note(
          "in single precision, because values exceed half precision: "
            + Console.escaped(large.joined(separator: ", ")))
      }
      options.keptInFloat32.formUnion(large)
    }
    options.customLayers = predictor.engine.customLayers
    options.addsForgetBias = predictor.forgetBias == .add
    options.target = target
    options.hasFixedSizes = hasFixedSizes
    options.hasStates = hasStates
    let program = try model.mlProgram(options)
    let names = model.namesInProgram
    if !names.isEmpty { Console.warn("names of an ML Program are identifiers: \(names)") }
    return program
  }
}
