import CoreMLModel
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
      // ONNX's GRU has the gate.
      if layer.options.isForONNX { try layer.builder.requireTarget(.iOS18, "reset_after") }
      if layer.target < .iOS18 { return try layer.loop(self) }
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

  /// The shape [B, H] or, from the first axis on, [S, B, H], computed when the program runs.
  private func stateShape(
    of sequence: Variable, _ size: Int, from axis: Int = 1
  ) throws -> Variable {
    let sizes = try add("shape", sequence, shape: [3], type: .int32)
    let outer = try add(
      "slice_by_index", sizes, [("begin", .ints([axis])), ("end", .ints([2]))], shape: [2 - axis])
    return try concat(
      [outer, builder.constant(MILValue(ints: [size], [1]), name: "\(name)_size")], 0)
  }

  /// A GRU whose reset gate applies after the product, as a loop over the steps; before iOS 18,
  /// `gru` has no such gate.
  fileprivate func loop(_ gru: GRU) throws -> [Variable] {
    let size = gru.outputVectorSize
    let gates = [gru.updateGate, gru.resetGate, gru.outputGate]
    func matrix(
      _ part: (RecurrentWeights) -> Weights?, _ columns: Int, _ bias: [Weights?], _ suffix: String
    ) throws -> [(String, Argument)] {
      let weight = try stack(gates.map(part), size, columns, "weight_" + suffix).1
      if !gru.hasBiasVectors { return [("weight", weight)] }
      return [("weight", weight), ("bias", try stack(bias, size, nil, "bias_" + suffix).1)]
    }
    let inputs = try matrix(\.matrix, gru.inputVectorSize, gates.map(\.bias), "ih")
    let states = try matrix(\.recursion, size, [nil, nil, gru.resetBias], "hh")
    let functions = try [gru.activations.first, gru.activations.last].map {
      try $0.orThrow(ModelError(.malformed, "two functions are needed", field: "activations"))
    }
    var x = try sequence()
    if gru.reverseInput { x = try add("reverse", x, [("axes", .ints([0]))]) }
    let (steps, batch) = (x.shape[0], x.shape[1])
    let first = try reshape(state(1, of: x, size, "initial_h"), to: [1, batch, size])
    var start = [try builder.constant(MILValue(ints: [0], []), name: "\(name)_start"), first]
    if gru.sequenceOutput {
      let shape = [steps, batch, size]
      let count = try checkedProduct(shape, limit: Limits.tensorElements)
      if !builder.hasOpenSizes, count <= 1 << 14 {
        start.append(try constant([Float](zeros: count), shape, "sequence"))
      } else {
        let sizes: Argument =
          try builder.hasOpenSizes ? .variable(stateShape(of: x, size, from: 0)) : .ints(shape)
        start.append(try make("fill", [("shape", sizes), ("value", .number(0))], shape: shape))
      }
    }
    var count = Argument.int(steps)
    if builder.hasOpenSizes {
      let sizes = try add("shape", x, shape: [3], type: .int32)
      let arguments: [(String, Argument)] = [
        ("begin", .ints([0])), ("end", .ints([1])), ("squeeze_mask", .flags([true])),
      ]
      count = .variable(try add("slice_by_index", sizes, arguments, shape: []))
    }
    /// A block with its own variables.
    func block(_ make: ([Variable]) throws -> [Variable]) throws -> MILBlock {
      let variables = zip(["step", "h", "sequence"], start).map {
        Variable(name: builder.uniqueName("\(name)_\($0)"), type: $1.type, shape: $1.shape)
      }
      return try builder.block(variables) { try make(variables) }
    }
    let test = try block { [try add("less", $0[0], [("y", count)], type: .bool)] }
    let body = try block { variables in
      let (step, h) = (variables[0], variables[1])
      let position = try add("expand_dims", step, [("axes", .ints([0]))], shape: [1])
      let item = try add(
        "gather", x, [("indices", .variable(position)), ("axis", .int(0))],
        shape: [1] + x.shape[1...])
      let products = try [
        add("linear", item, inputs, shape: [1, batch, 3 * size]),
        add("linear", h, states, shape: [1, batch, 3 * size]),
      ].map { try split($0, 2, [2 * size, size]) }
      let sum = try combine("add", products[0][0], products[1][0])
      let open = try split(function(functions[0], sum), 2, [size, size])
      let kept = try combine("mul", open[1], products[1][1])
      let candidate = try function(functions[1], combine("add", products[0][1], kept))
      let change = try combine("mul", open[0], combine("sub", h, candidate))
      let next = try combine("add", candidate, change)
      var results = [try add("add", step, [("y", .int(1))]), next]
      if gru.sequenceOutput {
        let arguments: [(String, Argument)] = [
          ("data", .variable(variables[2])), ("indices", .variable(position)),
          ("updates", .variable(next)), ("axis", .int(0)), ("mode", .text("update")),
        ]
        results.append(try make("scatter", arguments, shape: variables[2].shape))
      }
      return results
    }
    let results = try builder.add(
      "while_loop", name, [("loop_vars", .variables(start))], blocks: [test, body],
      outputs: start.map { ($0.type, $0.shape) })
    return [results.last ?? results[1], results[1]]
  }

  /// A function of a recurrent layer as an operation.
  private func function(_ activation: Activation, _ x: Variable) throws -> Variable {
    let name = try functionName(activation, "gru")
    if name == "linear" { return x }
    return try add(
      name, x, name == "sigmoid_hard" ? [("alpha", .number(0.2)), ("beta", .number(0.5))] : [])
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
