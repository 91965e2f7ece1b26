import CoreMLModel
import ImportSupport

/// h = activation(W·x + R·h + b)
struct SimpleRNNCell: RecurrentCell {
  static let classes = [SourceLayer](
    "SimpleRNN",
    becomes: "simpleRecurrent; with a mask or another function, \(SourceLayer.unrolled)",
    options:
      "`return_sequences`, `return_state`, `go_backwards`, `initial_state`; states are optional inputs and outputs",
    refused: "`time_major`; another function if the number of steps is unknown")

  let weights: [WeightSlot]
  private let settings: RecurrentSettings

  init(_ configuration: LayerConfiguration) throws {
    settings = try RecurrentSettings(configuration)
    weights = GateWeights.slots(configuration, gates: ["h"], hasBias: settings.hasBias)
  }

  var units: Int { settings.units }
  var isClipped: Bool { settings.isUnbounded }
  var states: [RecurrentStateSize] { [RecurrentStateSize(name: "h", units: units)] }

  private func gates(_ weights: CellWeights) throws -> GateWeights {
    try GateWeights(
      weights.call, units: units, hasBias: settings.hasBias, gates: ["h"],
      inputs: weights.inputs, prefix: weights.prefix)
  }

  func native(
    _ weights: CellWeights, _ path: RecurrentPath, _ network: KerasWriter
  ) throws -> (any LayerParameters)? {
    guard let activation = settings.nativeActivation else { return nil }
    let gates = try gates(weights)
    var layer = SimpleRecurrent()
    layer.inputVectorSize = gates.inputSize
    layer.outputVectorSize = units
    layer.activation = activation
    layer.sequenceOutput = path.returnsSequences
    layer.hasBiasVector = settings.hasBias
    layer.weightMatrix = Weights(gates.input[0])
    layer.recursionMatrix = Weights(gates.recurrent[0])
    layer.biasVector = gates.bias.first.map { Weights($0) }
    layer.reverseInput = path.isReversed
    return layer
  }

  /// Computes S = tanh(W·x + R·h + b) + 1 and H = S − 1 in sequence.
  func phased(_ weights: CellWeights) throws -> PhasedCell? {
    guard settings.nativeActivation?.function == .tanh else { return nil }
    let gates = try gates(weights)
    typealias Phased = PhasedCell
    return try PhasedCell(
      units: units, inputs: gates.inputSize, phases: 2,
      blocks: [
        Phased.Block(
          i: Phased.Sum(
            input: Phased.scaled(gates.input[0], 2),
            recurrent: [(1, Phased.scaled(gates.recurrent[0], 2))],
            bias: gates.bias.first.map { try Phased.scaled($0, 2) },
            phases: Phased.phases(nil, false)),
          f: Phased.Sum(phases: Phased.phases(false, false)),
          z: Phased.Sum(bias: [Float](repeating: 2, count: units))),
        Phased.Block(
          i: Phased.Sum(phases: Phased.phases(false, true), mask: -Phased.large),
          f: Phased.Sum(phases: Phased.phases(true, false), mask: Phased.large),
          z: Phased.Sum(
            recurrent: [(0, Phased.unit(units))], bias: [Float](repeating: -1, count: units))),
      ], states: [1])
  }

  func steps(_ weights: CellWeights) throws -> RecurrentSteps {
    let gates = try gates(weights)
    return try gates.steps { prepared, states, name, network in
      let recurrent = network.matrixProduct(
        states[0], Weights(gates.recurrent[0]), inputs: units, outputs: units, name + "h")
      let sum = network.sum([prepared, recurrent], name + "sum")
      return [try network.activate(settings.activation, sum, name + "act", weights.call)]
    }
  }
}
