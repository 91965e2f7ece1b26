/// The options for writing a network as an ML Program.
struct MLProgramArguments: ParsableArguments {
  @OptionGroup var kept: KeptInFloat32Arguments

  @Flag(
    name: .customLong("fixed-sizes"),
    help: .advanced("Write only the default sizes of flexible inputs."))
  var hasFixedSizes = false

  @Flag(
    name: .customLong("states"),
    help: .advanced(
      "Keep the states of recurrent layers inside the program, instead of as inputs and outputs; needs iOS18."
    ))
  var hasStates = false

  var isGiven: Bool { !kept.layers.isEmpty || hasFixedSizes || hasStates }

  /// The model as a program for the oldest system that can hold it.
  ///
  /// - Parameters:
  ///   - inputs: layers with values beyond half precision on these compute in single precision.
  ///   - forONNX: whether it will be written as ONNX, with channels first and the source's names.
  ///   - predictor: how the model runs on the inputs.
  func program(
    of model: Model, isSource: Bool, isHalf: Bool, target: SystemTarget?, inputs: [String],
    forONNX: Bool, _ predictor: Predictor.Options
  ) throws -> Model {
    try kept.requireLayers(in: model)
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
    options.addsForgetBias = model.forgetBias == .add
    options.target = try target?.program()
    options.hasFixedSizes = hasFixedSizes
    options.hasStates = hasStates
    options.isOfSource = isSource
    options.isForONNX = forONNX
    if forONNX, isSource, !hasFixedSizes {
      options.hasOpenBatch = true
      // If an operation depends on the batch size, the batch is fixed to one item.
      if let open = try? model.mlProgram(options), (try? open.onnx()) != nil { return open }
      options.hasOpenBatch = false
    }
    let program = try model.mlProgram(options)
    let names = model.namesInProgram.sorted { $0.key < $1.key }
    if !forONNX, !names.isEmpty {
      Console.warn(
        "names of an ML Program are identifiers: "
          + firstNames(names.map { "'\($0.key)' is '\($0.value)'" }))
    }
    return program
  }
}
