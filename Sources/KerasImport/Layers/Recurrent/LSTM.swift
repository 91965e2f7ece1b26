import CoreMLModel
import ImportSupport

/// i, f, o = g(W·x + R·h + b); c = f ∘ c + i ∘ act(W·x + R·h + b); h = o ∘ act(c)
struct LSTMCell: RecurrentCell {
  static let classes = [
    SourceLayer(
      "LSTM",
      becomes:
        "uniDirectionalLSTM, forgetBias false; with a mask or another function, \(SourceLayer.unrolled)",
      options: "those of SimpleRNN", refused: "as SimpleRNN"),
    SourceLayer("CuDNNLSTM", becomes: "as LSTM"),
  ]

  let weights: [WeightSlot]
  private let settings: RecurrentSettings
  private let gateActivation: ActivationFunction
  private let nativeGate: GateFunction
  private let storage: GateWeights.Storage

  /// Keras 1's storage order.
  private static let storedGates = ["i", "c", "f", "o"]
  /// Keras 2 stores i, f, c, o side by side.
  private static let gates = ["i", "f", "c", "o"]

  init(_ configuration: LayerConfiguration) throws {
    storage = configuration.kind == "CuDNNLSTM" ? .cuDNN : .keras
    settings = try RecurrentSettings(configuration)
    gateActivation = try configuration.recurrentActivation(
      "recurrent_activation", "inner_activation",
      default: storage == .cuDNN ? "sigmoid" : "hard_sigmoid")
    nativeGate = GateFunction(gateActivation, configuration.version)
    weights = GateWeights.slots(configuration, gates: Self.storedGates, hasBias: settings.hasBias)
  }

  var isClipped: Bool { settings.isUnbounded || nativeGate.activation?.isUnbounded == true }

  var units: Int { settings.units }
  var states: [RecurrentStateSize] {
    ["h", "c"].map { RecurrentStateSize(name: $0, units: units) }
  }

  /// The activations of gates, cell and output; nil if Core ML lacks one of them.
  var nativeActivations: [Activation]? {
    guard let gate = nativeGate.activation, let activation = settings.nativeActivation else {
      return nil
    }
    return [gate, activation, activation]
  }

  /// The stored bias includes the 1 of `unit_forget_bias`; `forgetBias` would add another 1.
  func parameters(_ path: RecurrentPath) -> LSTMParameters {
    var parameters = LSTMParameters()
    parameters.sequenceOutput = path.returnsSequences
    parameters.hasBiasVectors = settings.hasBias
    parameters.cellClipThreshold = 50000
    return parameters
  }

  private func gates(_ weights: CellWeights) throws -> GateWeights {
    var gates = try GateWeights(
      weights.call, units: units, hasBias: settings.hasBias, gates: Self.gates,
      inputs: weights.inputs, prefix: weights.prefix, storage: storage)
    try gates.mergeBiases()
    return gates
  }

  /// The weights, and the size of the input.
  func nativeWeights(_ cellWeights: CellWeights) throws -> (LSTMWeights, Int) {
    let gates = try gates(cellWeights).scaled([0, 1, 3], by: nativeGate.scale)
    var weights = LSTMWeights()
    weights.inputGate = gates.native(0)
    weights.forgetGate = gates.native(1)
    weights.blockInput = gates.native(2)
    weights.outputGate = gates.native(3)
    return (weights, gates.inputSize)
  }

  func native(
    _ cellWeights: CellWeights, _ path: RecurrentPath, _ network: KerasWriter
  ) throws -> (any LayerParameters)? {
    guard let activations = nativeActivations else { return nil }
    let (weights, inputSize) = try nativeWeights(cellWeights)
    var layer = UniDirectionalLSTM()
    layer.inputVectorSize = inputSize
    layer.outputVectorSize = units
    layer.activations = activations
    layer.params = parameters(path)
    layer.weightParams = weights
    layer.reverseInput = path.isReversed
    return layer
  }

  /// Computes in sequence G = tanh(W·x + R·h + b) + 1, C = f ∘ C + i ∘ (G − 1), T = tanh(C) + 1
  /// and H = o ∘ (T − 1).
  func phased(_ weights: CellWeights) throws -> PhasedCell? {
    guard settings.nativeActivation?.function == .tanh, nativeGate.activation?.function == .sigmoid
    else { return nil }
    let gates = try gates(weights)
    typealias Phased = PhasedCell
    let (g, c, t, h) = (0, 1, 2, 3)
    func gate(_ index: Int, _ factor: Float, _ phases: [Float], mask: Float = 0) throws
      -> Phased.Sum
    {
      try Phased.Sum(
        input: Phased.scaled(gates.input[index], factor),
        recurrent: [(h, Phased.scaled(gates.recurrent[index], factor))],
        bias: gates.bias.isEmpty ? nil : Phased.scaled(gates.bias[index], factor), phases: phases,
        mask: mask)
    }
    let shut = Phased.Sum(phases: Phased.phases(false, false, false, false))
    let two = Phased.Sum(bias: [Float](repeating: 2, count: units))
    func less1(_ block: Int) throws -> Phased.Sum {
      try Phased.Sum(
        recurrent: [(block, Phased.unit(units))], bias: [Float](repeating: -1, count: units))
    }
    let large = Phased.large
    return try PhasedCell(
      units: units, inputs: gates.inputSize, phases: 4,
      blocks: [
        Phased.Block(i: gate(2, 2, Phased.phases(nil, false, false, false)), f: shut, z: two),
        Phased.Block(
          i: gate(0, 1, Phased.phases(false, nil, false, false), mask: -large),
          f: gate(1, 1, Phased.phases(true, nil, true, true), mask: large), z: less1(g)),
        Phased.Block(
          i: Phased.Sum(
            recurrent: [(c, Phased.unit(units, 2))],
            phases: Phased.phases(false, false, nil, false)), f: shut, z: two),
        Phased.Block(
          i: gate(3, 1, Phased.phases(false, false, false, nil), mask: -large),
          f: Phased.Sum(phases: Phased.phases(true, true, true, false), mask: large),
          z: less1(t)),
      ], states: [h, c])
  }

  func steps(_ weights: CellWeights) throws -> RecurrentSteps {
    let gates = try gates(weights)
    // The gates that share an activation come first.
    let order = [0, 1, 3, 2]
    let recurrent = try GateWeights.stacked(order.map { gates.recurrent[$0] })
    return try gates.steps(order) { x, states, name, network in
      let products = network.matrixProduct(
        states[0], recurrent, inputs: units, outputs: 4 * units, name + "h")
      let sums = network.sum([x, products], name + "sums")
      let parts = network.split(
        try network.activate(
          gateActivation, network.slice(sums, 0..<3 * units, name + "ifo"), name + "gates",
          weights.call), into: 3, name + "split")
      let block = try network.activate(
        settings.activation, network.slice(sums, 3 * units..<4 * units, name + "block"),
        name + "act", weights.call)
      let c = network.sum(
        [
          network.product(parts[1], states[1], name + "kept"),
          network.product(parts[0], block, name + "new"),
        ], name + "c")
      let activated = try network.activate(settings.activation, c, name + "cact", weights.call)
      return [network.product(parts[2], activated, name + "out"), c]
    }
  }
}
