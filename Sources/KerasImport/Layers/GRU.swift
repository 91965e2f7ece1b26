import CoreMLModel

/// z, r = g(W·x + R·h + b); h̃ = f(W·x + R·(r ∘ h) + b); h = (1 − z) ∘ h̃ + z ∘ h
struct GRULayer: KerasLayer {
  static let classNames = ["GRU"]

  private let settings: RecurrentSettings
  private let gateActivation: Activation
  let weights: [WeightSlot]

  init(_ configuration: LayerConfiguration) throws {
    settings = try RecurrentSettings(configuration)
    gateActivation = try configuration.recurrentActivation(
      "recurrent_activation", "inner_activation", default: "hard_sigmoid")
    weights = GateWeights.slots(configuration, gates: ["z", "r", "h"], hasBias: settings.hasBias)
    guard try !configuration.bool("reset_after", default: false) else {
      throw configuration.unsupported(
        "reset_after", "Core ML's GRU resets the state before its matrix, this one after it",
        hint: "a GRU with reset_after=False can be converted")
    }
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try settings.input(call, &network)
    let gates = try GateWeights(call, settings, gates: ["z", "r", "h"])
    var layer = GRU()
    layer.inputVectorSize = gates.inputSize
    layer.outputVectorSize = settings.units
    layer.activations = [gateActivation, settings.activation]
    layer.sequenceOutput = settings.returnsSequences
    layer.hasBiasVectors = settings.hasBias
    layer.updateGateWeightMatrix = Weights(gates.input[0])
    layer.resetGateWeightMatrix = Weights(gates.input[1])
    layer.outputGateWeightMatrix = Weights(gates.input[2])
    layer.updateGateRecursionMatrix = Weights(gates.recurrent[0])
    layer.resetGateRecursionMatrix = Weights(gates.recurrent[1])
    layer.outputGateRecursionMatrix = Weights(gates.recurrent[2])
    if gates.bias.count == 3 {
      layer.updateGateBiasVector = Weights(gates.bias[0])
      layer.resetGateBiasVector = Weights(gates.bias[1])
      layer.outputGateBiasVector = Weights(gates.bias[2])
    }
    layer.reverseInput = settings.isReversed
    let states = try network.stateInputs(["h_in"], call, units: settings.units)
    let blobs = network.add(
      call.name, layer, [input.blob] + states, states: ["h_out"], units: settings.units)
    return settings.outputs(blobs, input)
  }
}
