import CoreMLModel

extension OperationTable {
  /// Comparisons, which return 1 or 0, and selection by conditions. Core ML supports them since
  /// specification version 4.
  static let comparisons: [Operation] = [
    comparison(GreaterThan.self, LessThan.self, "greater", "gt"),
    comparison(GreaterEqual.self, LessEqual.self, "greaterequal", "ge"),
    comparison(LessThan.self, GreaterThan.self, "less", "lt"),
    comparison(LessEqual.self, GreaterEqual.self, "lessequal", "le"),
    comparison(Equal.self, Equal.self, "equal", "eq", "tensorequals"),
    comparison(NotEqual.self, NotEqual.self, "notequal", "ne", "tensornotequals"),
    Operation("logicaland", "and", "rand") { try $0.broadcast(LogicalAnd(), &$1) },
    Operation("logicalor", "or", "ror") { try $0.broadcast(LogicalOr(), &$1) },
    Operation("logicalxor", "xor", "rxor") { try $0.broadcast(LogicalXor(), &$1) },
    .elements("logicalnot", "invert", "not") { call, blob, network in
      network.add(call.name, LogicalNot(), [blob])
    },
    .elements("isnan") { call, blob, network in
      network.add(call.name, NotEqual(), [blob, blob])
    },
    Operation("where", "select", "selectv2", "wherev2") { call, network in
      let operands = [
        try call.operand(0, "condition", "cond"), try call.operand(1, "x", "x1", "t"),
        try call.operand(2, "y", "x2", "e"),
      ]
      let (inputs, result) = try call.broadcast(operands, &network)
      return [result.with(network.add(call.name, WhereBroadcastable(), inputs.map(\.blob)))]
    },
    Operation("threshold") { call, input, network in
      var above = GreaterThan()
      above.alpha = Float(try call.double(1, "threshold", default: 0))
      let value = try call.operand(2, "default_value", "value")
      let condition = input.with(network.add(call.name + "__above__", above, [input.blob]))
      let (inputs, result) = try call.broadcast(
        [.tensor(condition), .tensor(input), value], &network)
      return [result.with(network.add(call.name, WhereBroadcastable(), inputs.map(\.blob)))]
    },
  ]

  private static func comparison<Forward: ComparisonLayer, Backward: ComparisonLayer>(
    _ forward: Forward.Type, _ backward: Backward.Type, _ names: String...
  ) -> Operation {
    Operation(names: names) { call, network in
      let (a, b) = (
        try call.operand(0, "x", "x1", "a", "self"), try call.operand(1, "y", "x2", "b", "other")
      )
      // A constant operand becomes part of the layer.
      if case .tensor(let tensor) = a, let number = b.scalar {
        return [
          tensor.with(network.add(call.name, Forward().with(\.alpha, Float(number)), [tensor.blob]))
        ]
      }
      if case .tensor(let tensor) = b, let number = a.scalar {
        return [
          tensor.with(
            network.add(call.name, Backward().with(\.alpha, Float(number)), [tensor.blob]))
        ]
      }
      return try call.broadcast(Forward(), &network)
    }
  }
}

extension OperationCall {
  /// Adds a layer with two inputs that are broadcast to each other.
  func broadcast(
    _ parameters: any LayerParameters, _ network: inout KerasWriter
  ) throws -> [KerasTensor] {
    let (inputs, result) = try operands(&network)
    return [result.with(network.add(name, parameters, inputs.map(\.blob)))]
  }

  /// The two operands in layouts that broadcast, and the result's shape.
  func operands(
    _ network: inout KerasWriter
  ) throws -> (inputs: [KerasTensor], result: KerasTensor) {
    try broadcast(
      [
        try operand(0, "x", "x1", "a", "self", "value"),
        try operand(1, "y", "x2", "b", "other"),
      ], &network)
  }

  func broadcast(
    _ operands: [Operand], _ network: inout KerasWriter
  ) throws -> (inputs: [KerasTensor], result: KerasTensor) {
    var widest: KerasTensor?
    for case .tensor(let tensor) in operands where tensor.sizes == nil {
      if widest.map({ $0.rank < tensor.rank }) ?? true { widest = tensor }
    }
    guard let widest else { throw layer.unsupported("operations on constants are not supported") }
    let tensors = try operands.enumerated().map { index, operand in
      try tensor(operand, like: widest, &network, "__constant_\(index)__")
    }
    return try network.merged(call(tensors))
  }
}
