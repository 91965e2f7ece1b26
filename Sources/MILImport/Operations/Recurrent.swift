import CoreMLModel
import TensorCore

let recurrentRules: [OperationRule] = [
  OperationRule(
    "lstm",
    "x initial_h initial_c weight_ih weight_hh bias? peephole? weight_ih_back? weight_hh_back? "
      + "bias_back? peephole_back? direction? output_sequence? recurrent_activation? "
      + "cell_activation? activation? clip?",
    "a long short-term memory, forward, backward or both"
  ) { try $0.lstm() },
  OperationRule(
    "gru",
    "x initial_h weight_ih weight_hh bias? direction? output_sequence? recurrent_activation? "
      + "activation? reset_after? input_bias?",
    "a gated recurrent unit, forward or backward"
  ) { try $0.gru() },
  OperationRule(
    "rnn", "x initial_h weight_ih weight_hh bias? direction? output_sequence? activation?",
    "h = activation(weight_ih · x + weight_hh · h + bias), forward or backward"
  ) { try $0.simpleRecurrent() },
]

extension OperationCall {
  fileprivate func lstm() throws -> [ProgramValue] {
    let x = try input(ranks: 3...3)
    let (inputs, size) = (x.shape[2], try units())
    let direction = try direction(["forward", "reverse", "bidirectional"])
    let isBoth = direction == "bidirectional"
    var parameters = LSTMParameters()
    parameters.sequenceOutput = try bool("output_sequence")
    parameters.hasBiasVectors = true
    parameters.hasPeepholeVectors =
      try elements("peephole") != nil || elements("peephole_back") != nil
    parameters.cellClipThreshold = try float("clip", .greatestFiniteMagnitude)
    let activations = try [
      activation("recurrent_activation", "sigmoid"), activation("cell_activation", "tanh"),
      activation("activation", "tanh"),
    ]
    let sequence = try reshaped(x, x.shape + [1, 1])
    let hidden = try states("initial_h", count: isBoth ? 2 : 1, x.shape[1], size)
    let cell = try states("initial_c", count: isBoth ? 2 : 1, x.shape[1], size)
    let forward = try gates("", inputs, size, parameters)
    let results: [ProgramValue]
    if isBoth {
      var layer = BiDirectionalLSTM()
      layer.inputVectorSize = inputs
      layer.outputVectorSize = size
      layer.activationsForwardLSTM = activations
      layer.activationsBackwardLSTM = activations
      layer.params = parameters
      layer.weightParams = [forward, try gates("_back", inputs, size, parameters)]
      results = try addAll(
        layer, [sequence, hidden[0], cell[0], hidden[1], cell[1]],
        types: [MILDataType](repeating: x.type, count: 5))
    } else {
      var layer = UniDirectionalLSTM()
      layer.inputVectorSize = inputs
      layer.outputVectorSize = size
      layer.activations = activations
      layer.params = parameters
      layer.weightParams = forward
      layer.reverseInput = direction == "reverse"
      results = try addAll(
        layer, [sequence, hidden[0], cell[0]], types: [MILDataType](repeating: x.type, count: 3))
    }
    return try [
      reshaped(results[0], Array(results[0].shape[..<3])),
      joined([results[1]] + (isBoth ? [results[3]] : []), x.shape[1], size),
      joined([results[2]] + (isBoth ? [results[4]] : []), x.shape[1], size),
    ]
  }

  /// The number of units.
  private func units() throws -> Int {
    let shape = try elements("weight_hh")?.shape ?? []
    let size = shape.last ?? 0
    try require(size > 0, "the shape is \(shape)", field: "weight_hh")
    return size
  }

  private func direction(_ names: [String]) throws -> String {
    let direction = try string("direction", "forward")
    try require(
      names.contains(direction), .unsupported, "direction '\(direction)' is not supported",
      field: "direction")
    return direction
  }

  /// The output and the state of a layer with one state, as [S or 1, B, H] and [B, H].
  private func recurrent(_ layer: any LayerParameters, _ size: Int) throws -> [ProgramValue] {
    let x = try value("x")
    let state = try states("initial_h", count: 1, x.shape[1], size)
    let results = try addAll(
      layer, [reshaped(x, x.shape + [1, 1])] + state, types: [x.type, x.type])
    return try [
      reshaped(results[0], Array(results[0].shape[..<3])),
      joined([results[1]], x.shape[1], size),
    ]
  }

  fileprivate func simpleRecurrent() throws -> [ProgramValue] {
    let x = try input(ranks: 3...3)
    let size = try units()
    var layer = SimpleRecurrent()
    layer.inputVectorSize = x.shape[2]
    layer.outputVectorSize = size
    layer.activation = try activation("activation", "tanh")
    layer.sequenceOutput = try bool("output_sequence")
    layer.weightMatrix = try parts("weight_ih", 1, size, x.shape[2])?[0]
    layer.recursionMatrix = try parts("weight_hh", 1, size, size)?[0]
    layer.biasVector = try parts("bias", 1, size, nil)?[0]
    layer.hasBiasVector = layer.biasVector != nil
    layer.reverseInput = try direction(["forward", "reverse"]) == "reverse"
    return try recurrent(layer, size)
  }

  /// The gates are stacked: reset, output, update.
  fileprivate func gru() throws -> [ProgramValue] {
    let x = try input(ranks: 3...3)
    let size = try units()
    let isReversed = try direction(["forward", "reverse"]) == "reverse"
    let matrices = try parts("weight_ih", 3, size, x.shape[2]) ?? []
    let recursions = try parts("weight_hh", 3, size, size) ?? []
    var biases = try parts("bias", 3, size, nil)
    var layer = GRU()
    layer.resetsAfter = try bool("reset_after")
    if layer.resetsAfter {
      layer.resetBias = biases?[1]
      biases?[1] = Weights([Float](repeating: 0, count: size))
    }
    if let others = try parts("input_bias", 3, size, nil) {
      biases =
        try biases.map {
          try zip($0, others).map {
            Weights(try zip($0.floatValue.array(), $1.floatValue.array()).map(+))
          }
        }
        ?? others
    }
    let gates = (0..<3).map { RecurrentWeights(matrices[$0], recursions[$0], biases?[$0]) }
    layer.inputVectorSize = x.shape[2]
    layer.outputVectorSize = size
    layer.activations = try [
      activation("recurrent_activation", "sigmoid"), activation("activation", "tanh"),
    ]
    layer.sequenceOutput = try bool("output_sequence")
    layer.hasBiasVectors = biases != nil
    (layer.resetGate, layer.outputGate, layer.updateGate) = (gates[0], gates[1], gates[2])
    layer.reverseInput = isReversed
    return try recurrent(layer, size)
  }

  /// The stacked matrices or vectors of `count` gates; nil if the argument is missing.
  private func parts(
    _ name: String, _ count: Int, _ size: Int, _ columns: Int?
  ) throws -> [Weights]? {
    let rows = try checkedProduct([count, size], limit: Limits.dimension)
    let shape = [rows] + (columns.map { [$0] } ?? [])
    guard let values = try elements(name) else { return nil }
    try require(values.shape == shape, "the shape is \(values.shape), not \(shape)", field: name)
    let all = try values.floats()
    let each = all.count / count
    return (0..<count).map { Weights(Array(all[$0 * each..<($0 + 1) * each])) }
  }

  /// The states of each direction as [1, B, H, 1, 1], from [B, H] or [B, 2H].
  private func states(
    _ name: String, count: Int, _ batch: Int, _ size: Int
  ) throws -> [ProgramValue] {
    var state = try value(name)
    let both = try checkedProduct([count, size], limit: Limits.dimension)
    // One state may apply to all items.
    if state.shape == [1, both] { state = try broadcast(state, to: [batch, both]) }
    // If there are more rows than items, the layers use the first ones.
    try require(
      state.rank == 2 && state.shape[0] >= batch && state.shape[1] == both,
      "the shape is \(state.shape), not \([batch, both])", field: name)
    let layer = SplitND().with(\.axis, 1).with(\.numSplits, 2)
    let parts =
      try count == 1 ? [state] : addAll(layer, [state], types: [state.type, state.type])
    return try parts.map { try reshaped($0, [1, state.shape[0], size, 1, 1]) }
  }

  /// The states [1, B, H, 1, 1] of each direction as [B, H] or [B, 2H].
  private func joined(_ states: [ProgramValue], _ batch: Int, _ size: Int) throws -> ProgramValue {
    try concatenated(states.map { try reshaped($0, [batch, size]) }, 1)
  }

  private func activation(_ name: String, _ missing: String) throws -> Activation {
    switch try string(name, missing) {
    case "sigmoid": return Activation(.sigmoid)
    case "tanh": return Activation(.tanh)
    case "relu": return Activation(.relu)
    case "linear": return Activation(.linear(alpha: 1, beta: 0))
    case "hard_sigmoid", "sigmoid_hard": return Activation(.sigmoidHard(alpha: 0.2, beta: 0.5))
    case "scaled_tanh": return Activation(.tanh)
    case let function:
      throw ModelError(.unsupported, "function '\(function)' is not supported", field: name)
    }
  }

  /// The stacked weights of the gates: input, forget, output, cell.
  private func gates(
    _ suffix: String, _ inputs: Int, _ size: Int, _ parameters: LSTMParameters
  ) throws -> LSTMWeights {
    func required(_ name: String, _ columns: Int) throws -> [Weights] {
      try parts(name + suffix, 4, size, columns).orThrow(missing(name + suffix))
    }
    let zeros = Weights([Float](repeating: 0, count: size))
    let matrices = try required("weight_ih", inputs)
    let recursions = try required("weight_hh", size)
    let biases = try parts("bias" + suffix, 4, size, nil) ?? [Weights](repeating: zeros, count: 4)
    let peepholes =
      try parts("peephole" + suffix, 3, size, nil) ?? [Weights](repeating: zeros, count: 3)
    let gates = (0..<4).map { RecurrentWeights(matrices[$0], recursions[$0], biases[$0]) }
    var weights = LSTMWeights()
    (weights.inputGate, weights.forgetGate) = (gates[0], gates[1])
    (weights.outputGate, weights.blockInput) = (gates[2], gates[3])
    if parameters.hasPeepholeVectors {
      weights.inputGate.peephole = peepholes[0]
      weights.forgetGate.peephole = peepholes[1]
      weights.outputGate.peephole = peepholes[2]
    }
    return weights
  }
}
