import CoreMLModel
import TensorCore

/// 8-bit activations.
let quantizationRules: [OperationRule] = [
  OperationRule(
    "quantize", "input zero_point? scale axis? output_dtype",
    "round(input / scale) + zero_point, within the type"
  ) { call in
    let x = try call.value("input")
    let type = try call.dataType("output_dtype", .int8)
    try require(
      type == .int8 || type == .uint8, .unsupported, "type \(type.name) is not supported",
      field: "output_dtype")
    let scaled = try call.add(DivideBroadcastable(), x, call.along("scale", x))
    var result = try call.add(Round(), scaled)
    if try call.optional("zero_point") != nil {
      result = try call.plus(result, call.along("zero_point", x))
    }
    result = try type == .int8 ? call.clipped(result, -128, 127) : call.clipped(result, 0, 255)
    return [result.with(type: type)]
  },
  OperationRule(
    "dequantize", "input zero_point? scale axis?", "(input − zero_point) · scale"
  ) { call in
    var x = try call.value("input")
    let scale = try call.along("scale", x)
    if try call.optional("zero_point") != nil { x = try call.minus(x, call.along("zero_point", x)) }
    return [try call.times(x.with(type: scale.type), scale)]
  },
  OperationRule(
    "conv_quantized",
    "x weight bias? quantization_type nbits? quant_scale quant_bias strides? pad_type? pad? "
      + "dilations? groups?",
    "conv with the weights weight · quant_scale + quant_bias"
  ) { try $0.quantizedConvolution() },
]

extension OperationCall {
  /// A scalar, or one value per element of an axis of x, in a shape that broadcasts with x.
  fileprivate func along(_ name: String, _ x: ProgramValue) throws -> ProgramValue {
    let numbers = try value(name)
    if numbers.rank == 0 { return numbers }
    let axis = try axis("axis", rank: x.rank, 0)
    try require(
      numbers.shape == [x.shape[axis]], "the shape is \(numbers.shape), not [\(x.shape[axis])]",
      field: name)
    var shape = [Int](repeating: 1, count: x.rank)
    shape[axis] = x.shape[axis]
    return try reshaped(numbers, shape)
  }

  fileprivate func quantizedConvolution() throws -> [ProgramValue] {
    let kind = try string("quantization_type", "")
    try require(
      kind == "linear", .unsupported, "type '\(kind)' is not supported", field: "quantization_type")
    guard let codes = try elements("weight"), let rows = codes.shape.first, rows > 0 else {
      return []
    }
    var values = try codes.floats()
    let each = values.count / rows
    func number(_ name: String) throws -> [Float] {
      let numbers = try floats(name) ?? []
      try require(
        numbers.count == 1 || numbers.count == rows,
        "\(numbers.count) values for \(rows) channels", field: name)
      return numbers.count == 1 ? [Float](repeating: numbers[0], count: rows) : numbers
    }
    let (scale, bias) = (try number("quant_scale"), try number("quant_bias"))
    for index in values.indices {
      values[index] = values[index] * scale[index / each] + bias[index / each]
    }
    return try convolution(isTransposed: false, weight: MILElements(values, codes.shape, .float32))
  }
}
