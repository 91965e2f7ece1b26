import CoreMLModel
import TensorCore

let recurrentRules: [String: ONNXRule] = [
  // The gates are stacked: input, forget, output, cell; in ONNX: input, output, forget, cell.
  "lstm": { call in
    let clip = try call.float("clip", .greatestFiniteMagnitude)
    // Converters write 50000 if there is no limit.
    try require(clip >= 50000, .unsupported, "ONNX's LSTM has no limit for its cell", field: "clip")
    let functions = try [
      call.function("recurrent_activation", "sigmoid"), call.function("cell_activation", "tanh"),
      call.function("activation", "tanh"),
    ]
    let layer = try Recurrence(call, order: [0, 2, 1, 3], functions)
    let peepholes = try layer.stacked("peephole", [0, 2, 1], columns: nil)
    let results = try call.addAll(
      "LSTM",
      layer.inputs + [
        .missing, layer.state("initial_h"), layer.state("initial_c"), peepholes ?? .missing,
      ], layer.attributes, outputs: 3)
    return try [
      layer.output(results[0], results[1]), layer.joined(results[1]), layer.joined(results[2]),
    ]
  },
  // The gates are stacked: reset, output, update; in ONNX: update, reset, output.
  "gru": { call in
    let functions = try [
      call.function("recurrent_activation", "sigmoid"), call.function("activation", "tanh"),
    ]
    let layer = try Recurrence(call, order: [2, 0, 1], functions)
    let isAfter = try call.bool("reset_after")
    return try layer.results(
      "GRU", layer.attributes + (isAfter ? [("linear_before_reset", .int(1))] : []))
  },
  "rnn": { call in
    let layer = try Recurrence(call, order: [0], [call.function("activation", "tanh")])
    return try layer.results("RNN", layer.attributes)
  },
]

/// A function of a recurrent layer, with its parameters in ONNX.
private struct RecurrentFunction {
  var name: String
  var parameters: (alpha: Float, beta: Float)?
}

extension ExportedOperation {
  fileprivate func function(_ name: String, _ missing: String) throws -> RecurrentFunction {
    switch try string(name, missing) {
    case "sigmoid": RecurrentFunction(name: "Sigmoid")
    case "tanh", "scaled_tanh": RecurrentFunction(name: "Tanh")
    case "relu": RecurrentFunction(name: "Relu")
    case "linear": RecurrentFunction(name: "Affine", parameters: (1, 0))
    case "hard_sigmoid", "sigmoid_hard":
      RecurrentFunction(name: "HardSigmoid", parameters: (0.2, 0.5))
    case let function:
      throw unsupported("function '\(function)' is not supported", field: name)
    }
  }
}

/// The part common to recurrent operations. Sequences are [steps, batch, size] in both formats;
/// ONNX has a separate axis for directions.
private struct Recurrence {
  let call: ExportedOperation
  let x: GraphValue
  let order: [Int]
  let functions: [RecurrentFunction]
  let direction: String
  let size: Int

  init(_ call: ExportedOperation, order: [Int], _ functions: [RecurrentFunction]) throws {
    (self.call, self.order, self.functions) = (call, order, functions)
    x = try call.value("x")
    try require(x.rank == 3, "the input has rank \(x.rank), not 3", field: "x")
    direction = try call.string("direction", "forward")
    size = try call.elements("weight_hh")?.shape.last ?? 0
    try require(size > 0, "the weights are missing", field: "weight_hh")
  }

  private var isBoth: Bool { direction == "bidirectional" }
  private var directions: [String] { isBoth ? ["", "_back"] : [""] }

  var attributes: [(String, AttributeValue)] {
    let all = directions.flatMap { _ in functions }
    let parameters = all.compactMap(\.parameters)
    return [
      ("hidden_size", .int(size)), ("direction", .string(direction)),
      ("activations", .strings(all.map(\.name))),
    ]
      + (parameters.isEmpty
        ? []
        : [
          ("activation_alpha", .floats(parameters.map(\.alpha))),
          ("activation_beta", .floats(parameters.map(\.beta))),
        ])
  }

  /// The sequence, the weights and the biases.
  var inputs: [GraphValue] {
    get throws {
      guard let weights = try stacked("weight_ih", order, columns: x.shape[2]),
        let recursions = try stacked("weight_hh", order, columns: size)
      else { throw call.missing("weight_ih") }
      return [x, weights, recursions, try biases()]
    }
  }

  /// Stacked weights of the gates for each direction, in another order; nil if they are missing.
  func stacked(_ name: String, _ order: [Int], columns: Int?) throws -> GraphValue? {
    var (values, type): ([Float], MILDataType) = ([], .float32)
    for suffix in directions {
      guard let elements = try call.elements(name + suffix) else { return nil }
      let rows = order.count * size
      try require(
        elements.shape == [rows] + (columns.map { [$0] } ?? []), "the shape is \(elements.shape)",
        field: name + suffix)
      type = elements.type
      values += try reordered(elements.floats(), order)
    }
    return try call.program.initializer(
      MILElements(
        values, [directions.count, order.count * size] + (columns.map { [$0] } ?? []), type),
      name: "\(call.operation.outputs[0].name)_\(name)")
  }

  private func reordered(_ values: [Float], _ order: [Int]) -> [Float] {
    let each = values.count / order.count
    return order.flatMap { values[$0 * each..<($0 + 1) * each] }
  }

  /// The biases of the input, then those of the state.
  private func biases() throws -> GraphValue {
    let rows = order.count * size
    var values: [Float] = []
    var hasAny = false
    for suffix in directions {
      for name in ["input_bias", "bias"] {
        guard let own = try call.floats(name + suffix) else {
          values += [Float](repeating: 0, count: rows)
          continue
        }
        try require(own.count == rows, "\(own.count) numbers", field: name + suffix)
        values += reordered(own, order)
        hasAny = true
      }
    }
    if !hasAny { return .missing }
    return try call.program.initializer(
      MILElements(values, [directions.count, 2 * rows], x.type),
      name: "\(call.operation.outputs[0].name)_bias")
  }

  /// [B, H] or [B, 2H] as [directions, B, H].
  func state(_ name: String) throws -> GraphValue {
    let state = try call.value(name)
    if !isBoth { return try call.unsqueeze(state, [0]) }
    let parts = try call.add(
      "Reshape", [state, call.list([-1, 2, size])], shape: [state.shape[0], 2, size])
    return try call.transpose(parts, [1, 0, 2])
  }

  /// [directions, B, H] as [B, H] or [B, 2H].
  func joined(_ state: GraphValue) throws -> GraphValue {
    var state = state
    if !isBoth {
      state.shape = [1, x.shape[1], size]
      return try call.squeeze(state, [0])
    }
    state.shape = [2, x.shape[1], size]
    return try call.add("Reshape", [call.transpose(state, [1, 0, 2]), call.list([-1, 2 * size])])
  }

  /// All steps, or the last state.
  func output(_ steps: GraphValue, _ state: GraphValue) throws -> GraphValue {
    guard try call.bool("output_sequence") else {
      if !isBoth { return state }
      return try call.unsqueeze(joined(state), [0])
    }
    var steps = steps
    steps.shape = [x.shape[0], isBoth ? 2 : 1, x.shape[1], size]
    if !isBoth {
      let result = try call.squeeze(steps, [1])
      // A program's steps are in the order of processing, ONNX's in the order of the input.
      return direction == "reverse" ? try call.reversed(result, [0]) : result
    }
    return try call.add(
      "Reshape", [call.transpose(steps, [0, 2, 1, 3]), call.list([0, 0, 2 * size])])
  }

  /// The results of an operation with one state.
  func results(_ type: String, _ attributes: [(String, AttributeValue)]) throws -> [GraphValue] {
    let results = try call.addAll(
      type, inputs + [.missing, state("initial_h")], attributes, outputs: 2)
    return [try output(results[0], results[1]), try joined(results[1])]
  }
}
