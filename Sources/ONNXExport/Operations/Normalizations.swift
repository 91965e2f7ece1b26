import CoreMLModel
import TensorCore

let normalizationRules: [String: ONNXRule] = [
  "batch_norm": one { call in
    let x = try call.value("x")
    return try call.add(
      "BatchNormalization",
      [x, call.factors(x), call.offsets(x), call.value("mean"), call.value("variance")],
      [("epsilon", .float(call.float("epsilon", 1e-5)))])
  },
  "instance_norm": one { call in
    let x = try call.value("x")
    return try call.add(
      "InstanceNormalization", [x, call.factors(x), call.offsets(x)],
      [("epsilon", .float(call.float("epsilon", 1e-5)))])
  },
  "layer_norm": { try $0.layerNormalization() },
  "local_response_norm": { try $0.localResponseNormalization() },
  "l2_norm": { call in
    let x = try call.value("x")
    let sum = try call.reduce("ReduceSumSquare", x, [-3, -2, -1])
    let root = try call.add("Sqrt", [call.linear(sum, 1, call.float("epsilon", 1e-6))])
    return [try call.binary("Div", x, root)]
  },
  "softmax": { call in
    let x = try call.value("x")
    return [try call.add("Softmax", [x], [("axis", .int(call.axis("axis", of: x, -1)))])]
  },
]

extension ExportedOperation {
  fileprivate func factors(_ x: GraphValue) throws -> GraphValue { try perChannel("gamma", x, 1) }
  fileprivate func offsets(_ x: GraphValue) throws -> GraphValue { try perChannel("beta", x, 0) }

  /// One number per channel; if the argument is missing, `missing` for all channels.
  private func perChannel(_ name: String, _ x: GraphValue, _ missing: Float) throws -> GraphValue {
    if let value = try optional(name) { return value }
    guard x.rank > 1, let count = x.shape[1] else {
      throw unsupported("the number of channels is not known", field: "x")
    }
    return try array([Float](repeating: missing, count: count), [count], x.type)
  }

  fileprivate func layerNormalization() throws -> [GraphValue] {
    let x = try value("x")
    let axes = try ArrayShape.axes(ints("axes") ?? Array(0..<x.rank), rank: x.rank)
    let epsilon = try float("epsilon", 1e-5)
    /// Aligns a value with the normalized axes, which need not be adjacent.
    func spread(_ value: GraphValue) throws -> GraphValue {
      guard let first = axes.first, axes != Array(first..<x.rank) else { return value }
      return try unsqueeze(value, (first..<x.rank).filter { !axes.contains($0) }.map { $0 - first })
    }
    let (gamma, beta) = (try optional("gamma"), try optional("beta"))
    if graph.opset >= 17, let gamma, let first = axes.first, axes == Array(first..<x.rank) {
      return [
        try add(
          "LayerNormalization", [x, gamma] + (beta.map { [$0] } ?? []),
          [("axis", .int(first)), ("epsilon", .float(epsilon))])
      ]
    }
    let centered = try binary("Sub", x, reduce("ReduceMean", x, axes))
    let variance = try reduce("ReduceMean", binary("Mul", centered, centered), axes)
    var result = try binary("Div", centered, add("Sqrt", [linear(variance, 1, epsilon)]))
    if let gamma { result = try binary("Mul", result, spread(gamma)) }
    if let beta { result = try binary("Add", result, spread(beta)) }
    return [result]
  }

  fileprivate func localResponseNormalization() throws -> [GraphValue] {
    var x = try value("x")
    let (size, rank) = (try int("size", 0), x.rank)
    try require(size % 2 == 1, .unsupported, "an even size", field: "size")
    try require((3...5).contains(rank), "the rank is \(rank)", field: "x")
    let shape = x.sizes
    if rank == 3 { x = try unsqueeze(x, [3]) }
    if rank == 5 {
      // The channels are the second of four axes.
      guard let shape else { throw unsupported("the sizes are not known", field: "x") }
      x = try reshape(x, [shape[0], shape[1], -1, shape[4]])
    }
    let result = try add(
      "LRN", [x],
      [
        ("size", .int(size)), ("alpha", .float(float("alpha", 1e-4))),
        ("beta", .float(float("beta", 0.75))), ("bias", .float(float("k", 1))),
      ])
    return [try rank == 3 ? squeeze(result, [3]) : shape.map { try reshape(result, $0) } ?? result]
  }
}
