import CoreMLModel
import LibC
import TensorCore

extension SimpleRecurrent: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let gate = try layer.gate(
      RecurrentWeights(weightMatrix, recursionMatrix, biasVector), hasBias: hasBiasVector,
      inputVectorSize, outputVectorSize, "")
    let cell = RecurrentCell(
      kind: .simple(try gateFunction(activation, "activation")), gates: [gate])
    return try layer.add(
      [cell], isReversed: reverseInput, givesSequence: sequenceOutput, inputVectorSize,
      outputVectorSize)
  }
}

extension GRU: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try require(activations.count == 2, "\(activations.count), not 2", field: "activations")
    var gates = try [
      ("updateGate", updateGate), ("resetGate", resetGate), ("outputGate", outputGate),
    ].map {
      try layer.gate($1, hasBias: hasBiasVectors, inputVectorSize, outputVectorSize, $0)
    }
    if resetsAfter {
      let inner = RecurrentWeights(outputGate.matrix, outputGate.recursion, resetBias)
      gates.append(
        try layer.gate(inner, hasBias: true, inputVectorSize, outputVectorSize, "outputGate"))
    }
    let cell = RecurrentCell(
      kind: .gru(
        gate: try gateFunction(activations[0], "activations"),
        output: try gateFunction(activations[1], "activations")), gates: gates)
    return try layer.add(
      [cell], isReversed: reverseInput, givesSequence: sequenceOutput, inputVectorSize,
      outputVectorSize)
  }
}

extension UniDirectionalLSTM: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let cell = try layer.cell(
      params ?? LSTMParameters(), weightParams, activations, inputVectorSize, outputVectorSize)
    return try layer.add(
      [cell], isReversed: reverseInput, givesSequence: params?.sequenceOutput ?? false,
      inputVectorSize, outputVectorSize)
  }
}

extension BiDirectionalLSTM: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let parameters = params ?? LSTMParameters()
    try require(weightParams.count == 2, "\(weightParams.count), not 2", field: "weightParams")
    let cells = try zip([activationsForwardLSTM, activationsBackwardLSTM], weightParams).map {
      try layer.cell(parameters, $1, $0, inputVectorSize, outputVectorSize)
    }
    return try layer.add(
      cells, isReversed: false, givesSequence: parameters.sequenceOutput, inputVectorSize,
      outputVectorSize)
  }
}

extension LayerLowering {
  fileprivate mutating func add(
    _ cells: [RecurrentCell], isReversed: Bool, givesSequence: Bool, _ inputCount: Int, _ units: Int
  ) throws -> [Graph.ValueID] {
    guard let input = inputShapes.first else { return [] }
    try require(
      input.itemCount == inputCount,
      "\(inputCount), but an input item has \(input.itemCount) elements", field: "inputVectorSize")
    let state = try checked([[1, input.batch, units, 1, 1]])[0]
    var inputs = self.inputs
    for index in inputs.indices.dropFirst() where inputShapes[index] != state {
      // A state with too many rows is cut: the first ones are used.
      inputs[index] =
        inputShapes[index].count == state.count
        ? add(ViewOperation(), [inputs[index]], state)
        : add(
          StridedCopyOperation(kind: "slice", sizes: [state.count], strides: [1]),
          [inputs[index]], state)
    }
    let operation = RecurrentOperation(
      cells: cells, isReversed: isReversed, givesSequence: givesSequence, inputCount: inputCount,
      units: units)
    let shapes = try outputShapes().prefix(layer.output.count)
    return add(operation, inputs, Array(shapes))
  }

  fileprivate func gate(
    _ gate: RecurrentWeights, hasBias: Bool, _ inputs: Int, _ units: Int, _ name: String
  ) throws -> RecurrentGates {
    let bias = hasBias ? gate.bias : nil
    return RecurrentGates(
      weights: try values(gate.matrix, [units, inputs], name + "WeightMatrix").array(),
      recursion: try values(gate.recursion, [units, units], name + "RecursionMatrix").array(),
      bias: try bias.map { try values($0, [units], name + "BiasVector").array() }
        ?? [Float](repeating: 0, count: units))
  }

  fileprivate func cell(
    _ parameters: LSTMParameters, _ weights: LSTMWeights?, _ activations: [Activation],
    _ inputs: Int, _ units: Int
  ) throws -> RecurrentCell {
    guard let weights else {
      throw ModelError(.malformed, "no weights are set", field: "weightParams")
    }
    try require(activations.count == 3, "\(activations.count), not 3", field: "activations")
    let named = [
      ("inputGate", weights.inputGate), ("forgetGate", weights.forgetGate),
      ("outputGate", weights.outputGate), ("blockInput", weights.blockInput),
    ]
    let isCoupled = parameters.coupledInputAndForgetGate
    var gates: [RecurrentGates] = []
    for (index, (name, part)) in named.enumerated() {
      // The coupled forget gate is 1 minus the input gate.
      gates.append(
        index == 1 && isCoupled
          ? gates[0] : try gate(part, hasBias: parameters.hasBiasVectors, inputs, units, name))
    }
    var peepholes: [[Float]] = []
    if parameters.hasPeepholeVectors {
      peepholes = try named.prefix(3).map { name, part in
        isCoupled && name == "forgetGate"
          ? [Float](repeating: 0, count: units)
          : try values(part.peephole, [units], name + "Peephole").array()
      }
    }
    return RecurrentCell(
      kind: .lstm(
        RecurrentCell.LSTM(
          gate: try gateFunction(activations[0], "activations"),
          input: try gateFunction(activations[1], "activations"),
          output: try gateFunction(activations[2], "activations"), isCoupled: isCoupled,
          clip: parameters.effectiveCellClipThreshold.magnitude, peepholes: peepholes)),
      gates: gates)
  }
}

/// The function of a gate. The reference converter leaves the parameters of `sigmoidHard` and
/// `linear` unset; inside recurrent layers they mean 0.2x + 0.5 and x.
private func gateFunction(
  _ activation: Activation?, _ field: String
) throws -> RecurrentCell.Function {
  guard let function = activation?.recurrentFunction else {
    throw ModelError(.malformed, "no function is set", field: field)
  }
  switch function {
  case .linear(let a, let b): return { a * $0 + b }
  case .relu: return { max($0, 0) }
  case .tanh: return { tanhf($0) }
  case .scaledTanh(let a, let b): return { a * tanhf(b * $0) }
  case .sigmoid: return { 1 / (1 + expf(-$0)) }
  case .sigmoidHard(let a, let b): return { min(max(a * $0 + b, 0), 1) }
  default:
    throw ModelError(
      .unsupported, "the function is not available in recurrent layers", field: field)
  }
}
