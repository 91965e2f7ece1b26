import TensorCore

/// A reduction over one axis or over H·W or C·H·W.
package struct Reduce: LayerParameters {
  package enum Operation: Int, Sendable, CaseIterable {
    case sum = 0
    case avg = 1
    case prod = 2
    /// log Σ (x + ε)
    case logsum = 3
    case sumsquare = 4
    case l1 = 5
    case l2 = 6
    case max = 7
    case min = 8
    case argmax = 9
  }

  package enum Axis: Int, Sendable, CaseIterable {
    case chw = 0
    case hw = 1
    case c = 2
    case h = 3
    case w = 4
  }

  package var mode = Operation.sum
  /// 0 means 1e-6.
  package var epsilon: Float = 0
  package var axis = Axis.chw

  package init() {}

  package static let fields: Fields = [
    .value("mode", \.mode),
    .float("epsilon", \.epsilon),
    .value("axis", \.axis),
  ]

  package var effectiveEpsilon: Float { epsilon == 0 ? 1e-6 : epsilon }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try input(inputs)
    try require(
      mode != .argmax || ![.chw, .hw].contains(axis), "argmax needs one axis, C, H or W",
      field: "axis")
    if [.chw, .c].contains(axis) { shape.channels = 1 }
    if [.chw, .hw, .h].contains(axis) { shape.height = 1 }
    if [.chw, .hw, .w].contains(axis) { shape.width = 1 }
    return [try shape.checked]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(
      mode != .argmax || ![.chw, .hw].contains(axis), "axis", "argmax needs one axis, C, H or W")
  }
}
