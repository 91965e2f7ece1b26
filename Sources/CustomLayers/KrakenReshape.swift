import TensorCore

/// One axis split in two, of which one part moves into another axis; kraken's `reshape`.
final class KrakenReshape: BuiltInCustomLayer {
  static let className = "reshape"
  static let notes = CustomLayerNotes(
    "the axis `src_dim` of [N, C, H, W] becomes `part_a` × `part_b`; the other part moves before the axis `high`, or `low` if `high` is `src_dim`, and merges with it",
    parameters: ["`src_dim`, `high`, `low`", "`part_a`, `part_b`; one may be −1"])

  private let source: Int
  private let parts: (a: Int, b: Int)
  private let high: Int
  private let low: Int

  init(parameters: [String: CustomLayerParameter]) throws {
    let values = CustomLayerParameters(parameters)
    source = try values.required("src_dim", in: 0...3)
    high = try values.required("high", in: 0...3)
    low = try values.required("low", in: 0...3)
    let sizes = -1...Limits.dimension
    parts = (try values.required("part_a", in: sizes), try values.required("part_b", in: sizes))
    try require(
      parts.a != 0 && parts.b != 0 && (parts.a > 0 || parts.b > 0),
      "\(parts.a) and \(parts.b) cannot split an axis", field: "parameters.part_a")
  }

  private struct Plan {
    /// `[N, C, H, W]` with the axis split, in the result's order, and each one's step in the input.
    var sizes: [Int]
    var strides: [Int]
    var shape: [Int]
  }

  private func plan(_ shape: [Int]) throws -> Plan {
    try require(
      shape.count >= 4, "an input has the shape \(shape); N, C, H and W are needed",
      field: "input")
    let leading = Array(shape.dropLast(4))
    try require(
      leading.allSatisfy({ $0 == 1 }), .unsupported, "a sequence, \(shape)", field: "input")
    var sizes = Array(shape.suffix(4))
    let length = sizes[source]
    let a = parts.a > 0 ? parts.a : length / parts.b
    let b = parts.b > 0 ? parts.b : length / parts.a
    try require(
      a > 0 && b > 0 && a.multipliedReportingOverflow(by: b) == (length, false),
      "an axis of \(length) is not \(parts.a) × \(parts.b)", field: "parameters.part_a")
    sizes.replaceSubrange(source...source, with: [a, b])
    var strides = [Int](repeating: 1, count: 5)
    for axis in (0..<4).reversed() { strides[axis] = strides[axis + 1] * sizes[axis + 1] }
    let target = high != source ? high : low
    let moved = high != source ? source : source + 1
    let (size, stride) = (sizes.remove(at: moved), strides.remove(at: moved))
    sizes.insert(size, at: target)
    strides.insert(stride, at: target)
    var result = sizes
    result.replaceSubrange(target...target + 1, with: [sizes[target] * sizes[target + 1]])
    return Plan(sizes: sizes, strides: strides, shape: leading + result)
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    [try plan(onlyInput(inputShapes)).shape]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    let plan = try plan(inputs[0].shape)
    let (sizes, strides) = (plan.sizes, plan.strides)
    let (source, target) = (inputs[0].elements, outputs[0].elements)
    var index = 0
    for a in 0..<sizes[0] {
      for b in 0..<sizes[1] {
        for c in 0..<sizes[2] {
          for d in 0..<sizes[3] {
            let start = a * strides[0] + b * strides[1] + c * strides[2] + d * strides[3]
            for e in 0..<sizes[4] {
              target[index] = source[start + e * strides[4]]
              index += 1
            }
          }
        }
      }
    }
  }
}
