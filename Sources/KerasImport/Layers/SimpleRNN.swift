import CoreMLModel

/// h = activation(W·x + R·h + b)
struct SimpleRNN: KerasLayer {
  static let classNames = ["SimpleRNN"]

  private let settings: RecurrentSettings
  let weights: [WeightSlot]

  init(_ configuration: LayerConfiguration) throws {
    settings = try RecurrentSettings(configuration)
    weights = GateWeights.slots(configuration, gates: ["h"], hasBias: settings.hasBias)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try settings.input(call, &network)
    let gates = try GateWeights(call, settings, gates: ["h"])
    var layer = SimpleRecurrent()
    layer.inputVectorSize = gates.inputSize
    layer.outputVectorSize = settings.units
    layer.activation = settings.activation
    layer.sequenceOutput = settings.returnsSequences
    layer.hasBiasVector = settings.hasBias
    layer.weightMatrix = Weights(gates.input[0])
    layer.recursionMatrix = Weights(gates.recurrent[0])
    layer.biasVector = gates.bias.first.map { Weights($0) }
    layer.reverseInput = settings.isReversed
    let states = try network.stateInputs(["h_in"], call, units: settings.units)
    let blobs = network.add(
      call.name, layer, [input.blob] + states, states: ["h_out"], units: settings.units)
    return settings.outputs(blobs, input)
  }
}
