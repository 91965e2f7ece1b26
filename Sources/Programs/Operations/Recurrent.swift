import CoreMLModel
import TensorCore

let recurrentRules: [OperationRule] = [
  OperationRule(
    "lstm",
    "x initial_h initial_c weight_ih weight_hh bias? peephole? weight_ih_back? weight_hh_back? "
      + "bias_back? peephole_back? direction? output_sequence? recurrent_activation? "
      + "cell_activation? activation? clip?",
    "a long short-term memory, forward, backward or both"
  ) { try $0.lstm() }
]

extension OperationCall {
  fileprivate func lstm() throws -> [ProgramValue] {
    let x = try value("x")
    try require(x.rank == 3, "the input has rank \(x.rank)", field: "x")
    guard let recursion = try elements("weight_hh") else { return [] }
    let (inputs, size) = (x.shape[2], recursion.shape.last ?? 0)
    try require(size > 0, "the shape is \(recursion.shape)", field: "weight_hh")
    let direction = try string("direction", "forward")
    try require(
      ["forward", "reverse", "bidirectional"].contains(direction), .unsupported,
      "the direction '\(direction)'", field: "direction")
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
        layer, [sequence, hidden[0], cell[0]],
        types: [MILDataType](repeating: x.type, count: 3))
    }
    return try [
      reshaped(results[0], Array(results[0].shape[..<3])),
      joined([results[1]] + (isBoth ? [results[3]] : []), x.shape[1], size),
      joined([results[2]] + (isBoth ? [results[4]] : []), x.shape[1], size),
    ]
  }

  /// The states of each direction as [1, B, H, 1, 1], from [B, H] or [B, 2H].
  private func states(
    _ name: String, count: Int, _ batch: Int, _ size: Int
  ) throws -> [ProgramValue] {
    let state = try value(name)
    let both = try checkedProduct([count, size], limit: Limits.dimension)
    try require(
      state.shape == [batch, both], "the shape is \(state.shape), not \([batch, both])",
      field: name)
    var parts = [state]
    if count == 2 {
      var layer = SplitND()
      layer.axis = 1
      layer.numSplits = 2
      parts = try addAll(layer, [state], types: [state.type, state.type])
    }
    return try parts.map { try reshaped($0, [1, batch, size, 1, 1]) }
  }

  /// The states [1, B, H, 1, 1] of each direction as [B, H] or [B, 2H].
  private func joined(_ states: [ProgramValue], _ batch: Int, _ size: Int) throws -> ProgramValue {
    let parts = try states.map { try reshaped($0, [batch, size]) }
    if parts.count == 1 { return parts[0] }
    var layer = ConcatND()
    layer.axis = 1
    return try addAll(layer, parts, types: [parts[0].type])[0]
  }

  private func activation(_ name: String, _ missing: String) throws -> Activation {
    switch try string(name, missing) {
    case "sigmoid": return Activation(.sigmoid)
    case "tanh": return Activation(.tanh)
    case "relu": return Activation(.relu)
    case "linear": return Activation(.linear(alpha: 1, beta: 0))
    case "hard_sigmoid": return Activation(.sigmoidHard(alpha: 0.2, beta: 0.5))
    case "scaled_tanh": return Activation(.scaledTanh(alpha: 0, beta: 0))
    case let function: throw ModelError(.unsupported, "the function '\(function)'", field: name)
    }
  }

  /// The weights of the gates, which are one below the other: input, forget, output, cell.
  private func gates(
    _ suffix: String, _ inputs: Int, _ size: Int, _ parameters: LSTMParameters
  ) throws -> LSTMWeights {
    func parts(_ name: String, _ count: Int, _ columns: Int?) throws -> [Weights]? {
      let rows = try checkedProduct([count, size], limit: Limits.dimension)
      let shape = [rows] + (columns.map { [$0] } ?? [])
      guard let values = try elements(name + suffix) else { return nil }
      try require(
        values.shape == shape, "the shape is \(values.shape), not \(shape)", field: name + suffix)
      let all = try values.floats()
      let each = all.count / count
      return (0..<count).map { Weights(Array(all[$0 * each..<($0 + 1) * each])) }
    }
    func required(_ name: String, _ columns: Int) throws -> [Weights] {
      guard let weights = try parts(name, 4, columns) else {
        throw ModelError(.malformed, "the argument is missing", field: name + suffix)
      }
      return weights
    }
    let zeros = Weights([Float](repeating: 0, count: size))
    let matrices = try required("weight_ih", inputs)
    let recursions = try required("weight_hh", size)
    let biases = try parts("bias", 4, nil) ?? [Weights](repeating: zeros, count: 4)
    let peepholes = try parts("peephole", 3, nil) ?? [Weights](repeating: zeros, count: 3)
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
