import CoreMLModel
import ImportSupport

/// z, r = g(W·x + R·h + b); h̃ = f(W·x + R·(r ∘ h) + b); h = (1 − z) ∘ h̃ + z ∘ h
///
/// With `reset_after`, h̃ = f(W·x + b + r ∘ (R·h + b′)), which only ML Programs support.
struct GRUCell: RecurrentCell {
  static let classes = [
    SourceLayer(
      "GRU",
      becomes:
        "gru; with `reset_after` in an `.mlmodel`, a mask or another function, \(SourceLayer.unrolled)",
      options:
        "those of SimpleRNN, `reset_after`: in an `.mlmodel`, if the number of steps is unknown, an LSTM with three steps for each",
      refused: "as SimpleRNN"),
    SourceLayer("CuDNNGRU", becomes: "as GRU with `reset_after`"),
  ]

  let weights: [WeightSlot]
  private let settings: RecurrentSettings
  private let gateActivation: ActivationFunction
  private let nativeGate: GateFunction
  private let resetsAfter: Bool
  private let storage: GateWeights.Storage

  init(_ configuration: LayerConfiguration) throws {
    let isCuDNN = configuration.kind == "CuDNNGRU"
    settings = try RecurrentSettings(configuration)
    gateActivation = try configuration.recurrentActivation(
      "recurrent_activation", "inner_activation", default: isCuDNN ? "sigmoid" : "hard_sigmoid")
    nativeGate = GateFunction(gateActivation, configuration.version)
    weights = GateWeights.slots(configuration, gates: ["z", "r", "h"], hasBias: settings.hasBias)
    // Configurations without the field are from versions that lack `reset_after`.
    resetsAfter = try isCuDNN || configuration.bool("reset_after", default: false)
    storage = isCuDNN ? .cuDNN : resetsAfter ? .twoBiases : .keras
  }

  var units: Int { settings.units }
  var isClipped: Bool { settings.isUnbounded || nativeGate.activation?.isUnbounded == true }
  var states: [RecurrentStateSize] { [RecurrentStateSize(name: "h", units: units)] }

  private func gates(_ weights: CellWeights) throws -> GateWeights {
    try GateWeights(
      weights.call, units: units, hasBias: settings.hasBias, gates: ["z", "r", "h"],
      inputs: weights.inputs, prefix: weights.prefix, storage: storage)
  }

  func native(
    _ weights: CellWeights, _ path: RecurrentPath, _ network: KerasWriter
  ) throws -> (any LayerParameters)? {
    guard !resetsAfter || network.resetsAfter, let activation = settings.nativeActivation,
      let gateActivation = nativeGate.activation
    else { return nil }
    var gates = try gates(weights).scaled([0, 1], by: nativeGate.scale)
    var layer = GRU()
    layer.resetsAfter = resetsAfter
    if resetsAfter, settings.hasBias { layer.resetBias = Weights(gates.recurrentBias.removeLast()) }
    try gates.mergeBiases()
    layer.inputVectorSize = gates.inputSize
    layer.outputVectorSize = units
    layer.activations = [gateActivation, activation]
    layer.sequenceOutput = path.returnsSequences
    layer.hasBiasVectors = settings.hasBias
    layer.updateGate = gates.native(0)
    layer.resetGate = gates.native(1)
    layer.outputGate = gates.native(2)
    layer.reverseInput = path.isReversed
    return layer
  }

  /// Computes R = r ∘ (R·h + b′), S = tanh(W·x + b + R) + 1 and H = z ∘ h + (1 − z) ∘ (S − 1) in
  /// sequence. If the gate resets before, R = r ∘ h and S = tanh(W·x + b + R·R) + 1.
  func phased(_ weights: CellWeights) throws -> PhasedCell? {
    guard settings.nativeActivation?.function == .tanh, nativeGate.activation?.function == .sigmoid
    else { return nil }
    let gates = try gates(weights)
    typealias Phased = PhasedCell
    func bias(_ gate: Int, _ factor: Float = 1, both: Bool) throws -> [Float]? {
      guard !gates.bias.isEmpty else { return nil }
      var sum = try gates.bias[gate].array()
      if both, !gates.recurrentBias.isEmpty {
        sum = try zip(sum, gates.recurrentBias[gate].array()).map(+)
      }
      return sum.map { factor * $0 }
    }
    let (r, s, h) = (0, 1, 2)
    let shut = Phased.Sum(phases: Phased.phases(false, false, false))
    let reset = try Phased.Block(
      i: Phased.Sum(
        input: gates.input[1].array(), recurrent: [(h, gates.recurrent[1].array())],
        bias: bias(1, both: true), phases: Phased.phases(nil, false, false)),
      f: shut,
      z: resetsAfter
        ? Phased.Sum(
          recurrent: [(h, gates.recurrent[2].array())],
          bias: gates.recurrentBias.isEmpty ? nil : gates.recurrentBias[2].array())
        : Phased.Sum(recurrent: [(h, Phased.unit(units))]))
    let candidate = try Phased.Block(
      i: Phased.Sum(
        input: Phased.scaled(gates.input[2], 2),
        recurrent: [
          (r, resetsAfter ? Phased.unit(units, 2) : Phased.scaled(gates.recurrent[2], 2))
        ], bias: bias(2, 2, both: false), phases: Phased.phases(false, nil, false)),
      f: shut, z: Phased.Sum(bias: [Float](repeating: 2, count: units)))
    let state = try Phased.Block(
      i: Phased.Sum(
        input: Phased.scaled(gates.input[0], -1),
        recurrent: [(h, Phased.scaled(gates.recurrent[0], -1))], bias: bias(0, -1, both: true),
        phases: Phased.phases(false, false, nil), mask: -Phased.large),
      f: Phased.Sum(
        input: gates.input[0].array(), recurrent: [(h, gates.recurrent[0].array())],
        bias: bias(0, both: true), phases: Phased.phases(true, true, nil), mask: Phased.large),
      z: Phased.Sum(
        recurrent: [(s, Phased.unit(units))], bias: [Float](repeating: -1, count: units)))
    return PhasedCell(
      units: units, inputs: gates.inputSize, phases: 3, blocks: [reset, candidate, state],
      states: [h])
  }

  func steps(_ weights: CellWeights) throws -> RecurrentSteps {
    let gates = try gates(weights)
    return try gates.steps { x, states, name, network in
      let h = states[0]
      let count = resetsAfter ? 3 : 2
      let products = try network.matrixProduct(
        h, GateWeights.stacked(Array(gates.recurrent[..<count])), inputs: units,
        outputs: count * units,
        bias: gates.recurrentBias.isEmpty ? nil : GateWeights.stacked(gates.recurrentBias),
        name + "h")
      let gateProducts =
        resetsAfter ? network.slice(products, 0..<2 * units, name + "hzr") : products
      let sums = network.sum(
        [network.slice(x, 0..<2 * units, name + "xzr"), gateProducts], name + "zr")
      let parts = network.split(
        try network.activate(gateActivation, sums, name + "gates", weights.call), into: 2,
        name + "split")
      let (z, r) = (parts[0], parts[1])
      let kept =
        resetsAfter
        ? network.product(
          r, network.slice(products, 2 * units..<3 * units, name + "hh"), name + "reset")
        : network.matrixProduct(
          network.product(r, h, name + "reset"), Weights(gates.recurrent[2]), inputs: units,
          outputs: units, name + "hh")
      let candidate = try network.activate(
        settings.activation,
        network.sum([network.slice(x, 2 * units..<3 * units, name + "xh"), kept], name + "sum"),
        name + "act", weights.call)
      let change = network.difference(h, candidate, name + "difference")
      return [network.sum([candidate, network.product(z, change, name + "kept")], name + "out")]
    }
  }
}
