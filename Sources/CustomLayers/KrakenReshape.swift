import TensorCore

/// Splits one axis in two and merges one part with another axis; kraken's `reshape`.
final class KrakenReshape: BuiltInCustomLayer {
  static let className = "reshape"
  static let notes = CustomLayerNotes(
    "the axis `src_dim` of [N, C, H, W] becomes `part_a` × `part_b`; the other part moves before the axis `high`, or `low` if `high` is `src_dim`, and merges with it",
    parameters: ["`src_dim`, `high`, `low`", "`part_a`, `part_b`; one may be −1"])

  private let split: AxisSplit

  init(parameters: [String: CustomLayerParameter]) throws {
    let values = CustomLayerParameters(values: parameters)
    let axes = (
      try values.required("src_dim", in: 0...3), try values.required("high", in: 0...3),
      try values.required("low", in: 0...3)
    )
    let sizes = -1...Limits.dimension
    let parts = (try values.required("part_a", in: sizes), try values.required("part_b", in: sizes))
    try require(
      parts.0 != 0 && parts.1 != 0 && (parts.0 > 0 || parts.1 > 0),
      "\(parts.0) and \(parts.1) cannot split an axis", field: "parameters.part_a")
    split = AxisSplit(source: axes.0, parts: parts, high: axes.1, low: axes.2)
  }

  private func plan(_ shape: [Int]) throws -> AxisSplit.Plan {
    try require(
      shape.count >= 4, "an input has the shape \(shape); N, C, H and W are needed", field: "input")
    try require(
      shape.dropLast(4).allSatisfy({ $0 == 1 }), .unsupported, "a sequence, \(shape)",
      field: "input")
    guard let plan = split.plan(Array(shape.suffix(4))) else {
      throw ModelError(
        .malformed,
        "the axis \(split.source) of \(shape.suffix(4)) is not \(split.parts.a) × \(split.parts.b)",
        field: "parameters.part_a")
    }
    return plan
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let shape = try onlyInput(inputShapes)
    return [shape.dropLast(4) + (try plan(shape).shape)]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    try plan(inputs[0].shape).rearrange(inputs[0].first, to: outputs[0].first)
  }
}
