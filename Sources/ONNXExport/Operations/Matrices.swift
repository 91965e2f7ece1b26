import CoreMLModel
import TensorCore

let matrixRules: [String: ONNXRule] = [
  "linear": one { call in
    let (x, weight) = (try call.value("x"), try call.value("weight"))
    let bias = try call.optional("bias")
    if x.rank == 2 {
      return try call.add("Gemm", [x, weight] + (bias.map { [$0] } ?? []), [("transB", .int(1))])
    }
    let product = try call.add("MatMul", [x, call.transposed(weight, "weight")])
    return try bias.map { try call.binary("Add", product, $0) } ?? product
  },
  "matmul": { call in
    func operand(_ name: String) throws -> GraphValue {
      let x = try call.value(name)
      return try call.bool("transpose_" + name) && x.rank > 1 ? call.transposed(x, name) : x
    }
    let (x, y) = (try operand("x"), try operand("y"))
    let type = try call.declared().type
    return [try call.binary("MatMul", call.cast(x, to: type), call.cast(y, to: type))]
  },
  "einsum": one { call in
    try call.add(
      "Einsum", call.values("values"), [("equation", .string(call.string("equation", "")))])
  },
  "scaled_dot_product_attention": { call in
    let (query, key) = (try call.value("query"), try call.value("key"))
    let size = try (query.shape.last ?? nil).orThrow(
      call.unsupported("the size of the query is not known", field: "query"))
    var scores = try call.linear(
      call.binary("MatMul", query, call.transposed(key, "key")), 1 / Float(size).squareRoot())
    if let mask = try call.optional("attn_mask") {
      scores =
        mask.type == .bool
        ? try call.add(
          "Where",
          [mask, scores, call.scalar(scores.type == .float16 ? -65504 : -3e38, scores.type)],
          type: scores.type, shape: scores.shape) : try call.binary("Add", scores, mask)
    }
    let weights = try call.add("Softmax", [scores], [("axis", .int(-1))])
    return [try call.binary("MatMul", weights, call.value("value"))]
  },
  "band_part": { call in
    let x = try call.value("x")
    let (lower, upper) = (try call.int("lower", -1), try call.int("upper", -1))
    try require(x.rank > 1, "the rank is \(x.rank); at least 2 is needed", field: "x")
    guard let rows = x.shape[x.rank - 2], let columns = x.shape[x.rank - 1] else {
      try call.graph.require(opset: 14, "operator for triangles of matrices of any size")
      func triangle(_ x: GraphValue, _ side: Int, _ diagonal: Int) throws -> GraphValue {
        try call.add("Trilu", [x, call.integers([diagonal], [])], [("upper", .int(side))])
      }
      let above = lower < 0 ? x : try triangle(x, 1, -lower)
      return [upper < 0 ? above : try triangle(above, 0, upper)]
    }
    let count = try checkedProduct([rows, columns], limit: 1 << 24)
    let mask = (0..<count).map { index -> Float in
      let distance = index % columns - index / columns
      return (lower < 0 || -distance <= lower) && (upper < 0 || distance <= upper) ? 1 : 0
    }
    return [try call.binary("Mul", x, call.array(mask, [rows, columns], x.type))]
  },
]

extension ExportedOperation {
  /// Swaps the last two axes; a constant is stored with its axes swapped.
  ///
  /// - Parameter name: the name of the argument.
  fileprivate func transposed(_ x: GraphValue, _ name: String) throws -> GraphValue {
    try require(x.rank > 1, "the rank is \(x.rank); at least 2 is needed", field: name)
    var axes = Array(0..<x.rank)
    axes.swapAt(x.rank - 1, x.rank - 2)
    guard let elements = try constant(name) else { return try transpose(x, axes) }
    let shape = axes.map { elements.shape[$0] }
    let values = try FloatValues(elements.floats()).shaped(elements.shape).transposed(axes).array()
    return try program.initializer(
      MILElements(values, shape, elements.type), name: "\(x.name)_transposed")
  }
}
