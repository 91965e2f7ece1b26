import CoreMLModel
import TensorCore

/// 8-bit activations and compressed weights. Operations without an operator become their values.
let quantizationRules: [String: ONNXRule] = [
  "quantize": { call in
    let x = try call.value("input")
    return [try call.add("QuantizeLinear", call.scaled(x), call.scaleAxis(x))]
  },
  "dequantize": { call in
    let x = try call.value("input")
    return [try call.add("DequantizeLinear", call.scaled(x), call.scaleAxis(x))]
  },
  "constexpr_affine_dequantize": { call in
    let x = try call.value("quantized_data")
    return [try call.add("DequantizeLinear", call.scaled(x), call.scaleAxis(x))]
  },
  "constexpr_blockwise_shift_scale": { try $0.blockwise() },
  "constexpr_cast": { call in
    [try call.cast(call.value("source_val"), to: call.declared().type)]
  },
  "constexpr_lut_to_dense": expanded, "constexpr_sparse_to_dense": expanded,
  "constexpr_lut_to_sparse": expanded, "constexpr_sparse_blockwise_shift_scale": expanded,
]

/// The values become an initializer where they are used.
private let expanded: ONNXRule = { _ in [] }

extension ExportedOperation {
  /// The input with its scale and zero point, which must have the same sizes.
  fileprivate func scaled(_ x: GraphValue) throws -> [GraphValue] {
    let scale = try value("scale")
    // Half precision requires opset 19.
    if scale.type == .float16 { try graph.require(opset: 19, "quantization in half precision") }
    let type = try operation.type == "quantize" ? declared().type : x.type
    guard let zero = try elements("zero_point") else {
      if type != .int8 { return [x, scale] }
      return [
        x, scale,
        try array(
          [Float](repeating: 0, count: scale.sizes?.reduce(1, *) ?? 1), scale.sizes ?? [], type),
      ]
    }
    var points = try zero.ints()
    if points.count == 1, let count = scale.sizes?.first {
      points = [Int](repeating: points[0], count: count)
    }
    return [
      x, scale, try program.initializer(MILElements(points, scale.sizes ?? [], type), name: label),
    ]
  }

  fileprivate func scaleAxis(_ x: GraphValue) throws -> [(String, AttributeValue)] {
    try value("scale").rank == 0 ? [] : [("axis", .int(axis("axis", of: x, 0)))]
  }

  /// (data − offset) · scale, with one scale for each block.
  fileprivate func blockwise() throws -> [GraphValue] {
    let (data, scale, offset) = (
      try elements("data"), try elements("scale"), try elements("offset")
    )
    guard let data, let scale, [.int8, .uint8, .int4, .uint4].contains(data.type),
      data.shape.count == scale.shape.count,
      offset.map({ $0.type == data.type && $0.shape == scale.shape }) ?? true
    else { return [] }
    let blocked = data.shape.indices.filter { scale.shape[$0] > 1 }
    let inner = blocked.filter { scale.shape[$0] < data.shape[$0] }
    if scale.type == .float16 { try graph.require(opset: 19, "quantization in half precision") }
    if data.type == .int4 || data.type == .uint4 { try graph.require(opset: 21, "4-bit codes") }
    var attributes: [(String, AttributeValue)] = []
    let shape: [Int]
    if inner.isEmpty, blocked.count <= 1 {
      shape = blocked.map { scale.shape[$0] }
      if let axis = blocked.first { attributes = [("axis", .int(axis))] }
    } else if inner.count == 1,
      data.shape.indices.allSatisfy({ $0 == inner[0] || scale.shape[$0] == data.shape[$0] })
    {
      try graph.require(opset: 21, "quantization by blocks")
      shape = scale.shape
      attributes = [
        ("axis", .int(inner[0])),
        ("block_size", .int(data.shape[inner[0]] / scale.shape[inner[0]])),
      ]
    } else {
      return []
    }
    let points = try offset?.ints() ?? [Int](repeating: 0, count: scale.count)
    return [
      try add(
        "DequantizeLinear",
        [
          value("data"),
          program.initializer(MILElements(scale.floats(), shape, scale.type), name: label),
          program.initializer(MILElements(points, shape, data.type), name: label),
        ], attributes, type: scale.type)
    ]
  }
}
