import CoreMLModel
import SizeArithmetic
import TensorCore

extension SimpleRecurrent: OperationLayer {
  func operations(_ layer: LayerCall) throws -> [Variable] {
    let layer = layer.recurrent
    return try layer.recurrence(
      "rnn", size: outputVectorSize, sequenceOutput,
      [
        try layer.stack([weightMatrix], outputVectorSize, inputVectorSize, "weight_ih"),
        try layer.stack([recursionMatrix], outputVectorSize, outputVectorSize, "weight_hh"),
        try layer.stack([hasBiasVector ? biasVector : nil], outputVectorSize, nil, "bias"),
        ("direction", .text(reverseInput ? "reverse" : "forward")),
        ("output_sequence", .flag(sequenceOutput)),
        ("activation", .text(try functionName(activation, "rnn"))),
      ])
  }
}

extension GRU: OperationLayer {
  /// The gates are stacked: reset, output, update.
  func operations(_ layer: LayerCall) throws -> [Variable] {
    let layer = layer.recurrent
    let gates = [resetGate, outputGate, updateGate]
    let bias = gates.map { hasBiasVectors ? $0.bias : nil }
    var after: [(String, Argument)] = []
    if resetsAfter {
      try layer.builder.requireTarget(.iOS18, "a GRU with reset_after")
      after = [
        ("reset_after", .flag(true)), try layer.stack(bias, outputVectorSize, nil, "input_bias"),
      ]
    }
    return try layer.recurrence(
      "gru", size: outputVectorSize, sequenceOutput,
      [
        try layer.stack(gates.map(\.matrix), outputVectorSize, inputVectorSize, "weight_ih"),
        try layer.stack(gates.map(\.recursion), outputVectorSize, outputVectorSize, "weight_hh"),
        try layer.stack(resetsAfter ? [nil, resetBias, nil] : bias, outputVectorSize, nil, "bias"),
        ("direction", .text(reverseInput ? "reverse" : "forward")),
        ("output_sequence", .flag(sequenceOutput)),
        ("recurrent_activation", .text(try functionName(activations.first, "gru"))),
        ("activation", .text(try functionName(activations.last, "gru"))),
      ] + after)
  }
}

extension UniDirectionalLSTM: OperationLayer {
  func operations(_ layer: LayerCall) throws -> [Variable] {
    let layer = layer.recurrent
    let parameters = params ?? LSTMParameters()
    let arguments =
      try layer.gates(
        weightParams, parameters, inputVectorSize, outputVectorSize, "")
      + layer.settings(parameters, activations)
      + [("direction", .text(reverseInput ? "reverse" : "forward"))]
    return try layer.lstm(
      size: outputVectorSize, parameters.sequenceOutput, isBoth: false, arguments)
  }
}

extension BiDirectionalLSTM: OperationLayer {
  func operations(_ layer: LayerCall) throws -> [Variable] {
    let layer = layer.recurrent
    let parameters = params ?? LSTMParameters()
    let functions = try activationsForwardLSTM.map { try functionName($0, "lstm") }
    let others = try activationsBackwardLSTM.map { try functionName($0, "lstm") }
    try require(
      functions == others, .unsupported, "different functions for the two directions",
      field: "activationsBackwardLSTM")
    try require(weightParams.count == 2, "two directions are needed", field: "weightParams")
    let arguments =
      try layer.gates(weightParams[0], parameters, inputVectorSize, outputVectorSize, "")
      + layer.gates(weightParams[1], parameters, inputVectorSize, outputVectorSize, "_back")
      + layer.settings(parameters, activationsForwardLSTM) + [("direction", .text("bidirectional"))]
    let all = try layer.lstm(
      size: outputVectorSize, parameters.sequenceOutput, isBoth: true, arguments)
    if layer.outputShapes.count == 1 { return [all[0]] }
    let size = outputVectorSize
    let (hidden, cell) = (
      try layer.split(all[1], 1, [size, size]), try layer.split(all[2], 1, [size, size])
    )
    return [all[0], hidden[0], cell[0], hidden[1], cell[1]]
  }
}

/// The name of a function in recurrent operations.
private func functionName(_ activation: Activation?, _ operation: String) throws -> String {
  switch activation?.recurrentFunction {
  case .sigmoid: return "sigmoid"
  case .tanh: return "tanh"
  case .relu: return "relu"
  case .linear(alpha: 1, beta: 0): return "linear"
  case .sigmoidHard(alpha: 0.2, beta: 0.5):
    return operation == "lstm" ? "hard_sigmoid" : "sigmoid_hard"
  default:
    throw ModelError(
      .unsupported, "a function that operation \(operation) does not support",
      field: operation == "rnn" ? "activation" : "activations")
  }
}

extension LayerCall {
  /// The layer in the compute type of recurrent operations: before iOS17, only single precision.
  fileprivate var recurrent: LayerCall {
    var layer = self
    if target < .iOS17 { layer.type = .float32 }
    return layer
  }

  /// The argument `field`: stacked matrices `[rows, columns]` or vectors; missing ones are zeros.
  ///
  /// - Parameter negated: the index of a part to negate.
  fileprivate func stack(
    _ parts: [Weights?], _ rows: Int, _ columns: Int?, _ field: String, negated: Int? = nil
  ) throws -> (String, Argument) {
    let shape = [rows] + (columns.map { [$0] } ?? [])
    let known = parts.compactMap { $0 }
    if columns != nil, known.count == parts.count,
      let packed = try inField(
        field, { try WeightConstant.stacked(known, shape, negated: negated, type, builder) })
    {
      return (field, .variable(try packed.variable(builder, name: "\(name)_\(field)")))
    }
    var all: [Float] = []
    for (position, part) in parts.enumerated() {
      let own =
        part == nil
        ? try [Float](zeros: checkedProduct(shape, limit: Limits.tensorElements))
        : try values(part, shape, field)
      all += position == negated ? own.map { -$0 } : own
    }
    return (field, .variable(try constant(all, [rows * parts.count] + shape.dropFirst(), field)))
  }

  fileprivate func gates(
    _ weights: LSTMWeights?, _ parameters: LSTMParameters, _ inputs: Int, _ size: Int,
    _ suffix: String
  ) throws -> [(String, Argument)] {
    guard let weights else { throw ModelError(.malformed, "is missing", field: "weightParams") }
    // With coupled gates, the forget gate is 1 − i = 1 − f(z), which is f(−z) for both sigmoids.
    let isCoupled = parameters.coupledInputAndForgetGate
    let forget = isCoupled ? weights.inputGate : weights.forgetGate
    let gates = [weights.inputGate, forget, weights.outputGate, weights.blockInput]
    let addsBias = parameters.forgetBias && options.addsForgetBias && !isCoupled
    func stacked(
      _ part: (RecurrentWeights) -> Weights?, count: Int = 4, _ columns: Int?, _ field: String
    ) throws -> (String, Argument) {
      try stack(
        gates[..<count].map(part), size, columns, field + suffix, negated: isCoupled ? 1 : nil)
    }
    var result = [
      try stacked(\.matrix, inputs, "weight_ih"), try stacked(\.recursion, size, "weight_hh"),
    ]
    if addsBias {
      var biases = try gates.flatMap { gate in
        parameters.hasBiasVectors
          ? try values(gate.bias, [size], "bias") : [Float](repeating: 0, count: size)
      }
      for index in size..<2 * size { biases[index] += 1 }
      let bias = try constant(biases, [4 * size], "bias" + suffix)
      result.append(("bias" + suffix, .variable(bias)))
    } else {
      result.append(try stacked({ parameters.hasBiasVectors ? $0.bias : nil }, nil, "bias"))
    }
    if parameters.hasPeepholeVectors {
      result.append(try stacked(\.peephole, count: 3, nil, "peephole"))
    }
    return result
  }

  fileprivate func settings(
    _ parameters: LSTMParameters, _ activations: [Activation]
  ) throws -> [(String, Argument)] {
    try require(activations.count == 3, "three functions are needed", field: "activations")
    let names = try activations.map { try functionName($0, "lstm") }
    if parameters.coupledInputAndForgetGate && !names[0].contains("sigmoid") {
      throw unsupported(
        "coupled gates with the function \(names[0])", field: "coupledInputAndForgetGate")
    }
    var result: [(String, Argument)] = [
      ("output_sequence", .flag(parameters.sequenceOutput)),
      ("recurrent_activation", .text(names[0])), ("cell_activation", .text(names[1])),
      ("activation", .text(names[2])),
    ]
    let clip = parameters.effectiveCellClipThreshold.magnitude
    // 65504 is the largest finite number in half precision.
    if clip < 65504 { result.append(("clip", .number(clip))) }
    return result
  }

  /// The sequence as [S, B, I].
  private func sequence() throws -> Variable {
    let five = try five(0)
    return try reshape(number(), to: [five[0], five[1], five[2] * five[3] * five[4]])
  }

  /// A state as [B, H], or zeros.
  private func state(
    _ index: Int, of sequence: Variable, _ size: Int, _ field: String
  ) throws -> Variable {
    let batch = sequence.shape[1]
    if inputs.indices.contains(index) {
      let given = try number(index)
      let rows = try checkedProduct(given.shape) / max(1, size)
      let all = try reshape(given, to: [rows, size])
      return rows == batch
        ? all
        : try add(
          "slice_by_index", all, [("begin", .ints([0, 0])), ("end", .ints([batch, size]))],
          shape: [batch, size])
    }
    if batch > 1, builder.hasOpenSizes {
      return try make(
        "fill",
        [("shape", .variable(stateShape(of: sequence, size))), ("value", .number(0))],
        shape: [batch, size])
    }
    let count = try checkedProduct([batch, size], limit: Limits.tensorElements)
    return try constant([Float](zeros: count), [batch, size], field)
  }

  /// The shape [B, H], computed when the program runs.
  private func stateShape(of sequence: Variable, _ size: Int) throws -> Variable {
    let sizes = try add("shape", sequence, shape: [3], type: .int32)
    let batch = try add(
      "slice_by_index", sizes, [("begin", .ints([1])), ("end", .ints([2]))], shape: [1])
    let width = Variable(
      name: try builder.constant(MILValue(ints: [size], [1]), name: "\(name)_size"), type: .int32,
      shape: [1])
    return try concat([batch, width], 0)
  }

  /// A recurrent layer with one state: its output and its state.
  fileprivate func recurrence(
    _ operation: String, size: Int, _ isSequence: Bool,
    _ arguments: [(String, Argument)]
  ) throws -> [Variable] {
    let x = try sequence()
    let (steps, batch) = (x.shape[0], x.shape[1])
    return try builder.add(
      operation, name,
      [
        ("x", .variable(x)),
        ("initial_h", .variable(try state(1, of: x, size, "initial_h"))),
      ] + arguments, type: type,
      outputs: [(type, [isSequence ? steps : 1, batch, size]), (type, [batch, size])])
  }

  fileprivate func lstm(
    size: Int, _ isSequence: Bool, isBoth: Bool, _ arguments: [(String, Argument)]
  ) throws -> [Variable] {
    let x = try sequence()
    let (steps, batch) = (x.shape[0], x.shape[1])
    func joined(_ positions: [Int], _ field: String) throws -> Variable {
      try concat(positions.map { try state($0, of: x, size, "\(field)_\($0)") }, 1)
    }
    let hidden =
      isBoth && inputs.count == 1
      ? try state(1, of: x, 2 * size, "initial_h") : try joined(isBoth ? [1, 3] : [1], "initial_h")
    let cell =
      isBoth && inputs.count == 1
      ? try state(1, of: x, 2 * size, "initial_c") : try joined(isBoth ? [2, 4] : [2], "initial_c")
    let width = isBoth ? 2 * size : size
    return try builder.add(
      "lstm", name,
      [("x", .variable(x)), ("initial_h", .variable(hidden)), ("initial_c", .variable(cell))]
        + arguments, type: type,
      outputs: [
        (type, [isSequence ? steps : 1, batch, width]), (type, [batch, width]),
        (type, [batch, width]),
      ])
  }
}
