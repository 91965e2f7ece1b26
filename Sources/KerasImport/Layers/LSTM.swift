import CoreMLModel

/// The gates of an LSTM in one direction.
struct LSTMSettings: Sendable {
  let recurrent: RecurrentSettings
  let gateActivation: Activation
  let weights: [WeightSlot]

  /// Keras 1's order, in which it stores them.
  private static let storedGates = ["i", "c", "f", "o"]

  init(_ configuration: LayerConfiguration) throws {
    recurrent = try RecurrentSettings(configuration)
    gateActivation = try configuration.recurrentActivation(
      "recurrent_activation", "inner_activation", default: "hard_sigmoid")
    weights = GateWeights.slots(
      configuration, gates: Self.storedGates, hasBias: recurrent.hasBias)
  }

  /// Gate activation, then that of the cell and of the output.
  var activations: [Activation] { [gateActivation, recurrent.activation, recurrent.activation] }

  /// The 1 that `unit_forget_bias` adds is part of the stored bias: `forgetBias` would add another.
  var parameters: LSTMParameters {
    var parameters = LSTMParameters()
    parameters.sequenceOutput = recurrent.returnsSequences
    parameters.hasBiasVectors = recurrent.hasBias
    parameters.cellClipThreshold = 50000
    return parameters
  }

  func gateWeights(_ call: LayerCall, prefix: String = "") throws -> (LSTMWeights, Int) {
    // Keras 2 keeps i, f, c, o side by side.
    let gates = try GateWeights(call, recurrent, gates: ["i", "f", "c", "o"], prefix: prefix)
    var weights = LSTMWeights()
    weights.inputGateWeightMatrix = Weights(gates.input[0])
    weights.forgetGateWeightMatrix = Weights(gates.input[1])
    weights.blockInputWeightMatrix = Weights(gates.input[2])
    weights.outputGateWeightMatrix = Weights(gates.input[3])
    weights.inputGateRecursionMatrix = Weights(gates.recurrent[0])
    weights.forgetGateRecursionMatrix = Weights(gates.recurrent[1])
    weights.blockInputRecursionMatrix = Weights(gates.recurrent[2])
    weights.outputGateRecursionMatrix = Weights(gates.recurrent[3])
    if gates.bias.count == 4 {
      weights.inputGateBiasVector = Weights(gates.bias[0])
      weights.forgetGateBiasVector = Weights(gates.bias[1])
      weights.blockInputBiasVector = Weights(gates.bias[2])
      weights.outputGateBiasVector = Weights(gates.bias[3])
    }
    return (weights, gates.inputSize)
  }
}

/// i, f, o = g(W·x + R·h + b); c = f ∘ c + i ∘ act(W·x + R·h + b); h = o ∘ act(c)
struct LSTM: KerasLayer {
  static let classNames = ["LSTM"]

  private let settings: LSTMSettings

  init(_ configuration: LayerConfiguration) throws { settings = try LSTMSettings(configuration) }

  var weights: [WeightSlot] { settings.weights }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try settings.recurrent.input(call, &network)
    let (weights, inputSize) = try settings.gateWeights(call)
    var layer = UniDirectionalLSTM()
    layer.inputVectorSize = inputSize
    layer.outputVectorSize = settings.recurrent.units
    layer.activations = settings.activations
    layer.params = settings.parameters
    layer.weightParams = weights
    layer.reverseInput = settings.recurrent.isReversed
    let units = settings.recurrent.units
    let states = try network.stateInputs(["h_in", "c_in"], call, units: units)
    let blobs = network.add(
      call.name, layer, [input.blob] + states, states: ["h_out", "c_out"], units: units)
    return settings.recurrent.outputs(blobs, input)
  }
}

/// An LSTM forwards and one backwards over the same sequence.
struct Bidirectional: KerasLayer {
  static let classNames = ["Bidirectional"]

  private enum Merge: String {
    case concat, sum, mul, ave
  }

  private let settings: LSTMSettings
  private let merge: Merge?

  init(_ configuration: LayerConfiguration) throws {
    guard let (_, json) = configuration.field("layer"),
      let innerClass = json["class_name"]?.string
    else { throw configuration.missing(["layer"]) }
    guard innerClass == "LSTM" else {
      throw configuration.unsupported(
        nil, "Bidirectional(\(innerClass)) is not supported; Core ML has a bidirectional LSTM only")
    }
    settings = try LSTMSettings(
      LayerConfiguration(
        name: configuration.name, className: "Bidirectional(LSTM)",
        fields: json["config"]?.object ?? .init(), version: configuration.version))
    guard !settings.recurrent.isReversed, !settings.recurrent.returnsState else {
      throw configuration.unsupported(
        settings.recurrent.isReversed ? "go_backwards" : "return_state",
        "not supported inside Bidirectional")
    }
    if let (field, value) = configuration.field("merge_mode") {
      guard let mode = value.string.flatMap(Merge.init(rawValue:)) else {
        throw configuration.bad(field, value, "concat, sum, mul, ave or null")
      }
      merge = mode
    } else {
      merge = configuration.fields["merge_mode"] == nil ? .concat : nil
    }
  }

  var weights: [WeightSlot] {
    ["forward_", "backward_"].flatMap { prefix in
      settings.weights.map { WeightSlot(prefix + $0.name) }
    }
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try settings.recurrent.input(call, &network)
    let (forward, inputSize) = try settings.gateWeights(call, prefix: "forward_")
    let (backward, _) = try settings.gateWeights(call, prefix: "backward_")
    let units = settings.recurrent.units
    var layer = BiDirectionalLSTM()
    layer.inputVectorSize = inputSize
    layer.outputVectorSize = units
    layer.activationsForwardLSTM = settings.activations
    layer.activationsBackwardLSTM = settings.activations
    layer.params = settings.parameters
    layer.weightParams = [forward, backward]
    let states = try network.stateInputs(
      ["h_in", "c_in", "h_in_rev", "c_in_rev"], call, units: units)
    let blobs = network.add(
      call.name, layer, [input.blob] + states,
      states: ["h_out", "c_out", "h_out_rev", "c_out_rev"], units: units)
    var output = settings.recurrent.output(input, units: merge == .concat ? 2 * units : units)
    output.blob = blobs[0]
    if merge == .concat { return [output] }
    var split = Split()
    split.nOutputs = 2
    let halves = network.add(
      call.name + "_split", split, [blobs[0]],
      outputs: [call.name + "_output_forward", call.name + "_output_backward"])
    let name = call.name + "_elementwise"
    switch merge {
    case .sum: output.blob = network.add(name, Add(), halves)
    case .mul: output.blob = network.add(name, Multiply(), halves)
    case .ave: output.blob = network.add(name, Average(), halves)
    case .concat, nil:
      return halves.map { blob in
        var half = output
        half.blob = blob
        return half
      }
    }
    return [output]
  }
}
