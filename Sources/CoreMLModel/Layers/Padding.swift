import TensorCore

/// Adds borders.
package struct Padding: LayerParameters {
  package static let minimumRank = 2
  /// Two axes are read as `[H, W]`.
  package static let vectorRank = 1

  package enum Kind: Sendable, Equatable {
    case constant(value: Float)
    /// Mirrored without repeating the edge.
    case reflection
    /// The edge is repeated.
    case replication
  }

  package var kind: Kind?
  package var paddingAmounts: BorderAmounts?

  package init() {}

  package static let fields: Fields = [
    .choice(
      \.kind,
      [
        .floats(
          "constant", ["value"], { .constant(value: $0[0]) },
          { if case .constant(let value) = $0 { [value] } else { nil } }),
        .empty("reflection", .reflection),
        .empty("replication", .replication),
      ]),
    .message("paddingAmounts", \.paddingAmounts),
  ]

  package func explicitPadding() throws -> ExplicitPadding {
    try (paddingAmounts ?? BorderAmounts()).resolved("paddingAmounts")
  }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try input(inputs)
    let amounts = try explicitPadding()
    if kind == .reflection,
      max(amounts.top, amounts.bottom) >= shape.height
        || max(amounts.left, amounts.right) >= shape.width
    {
      throw ModelError(
        .malformed,
        "a reflection of \(amounts.top), \(amounts.bottom), \(amounts.left), \(amounts.right) "
          + "needs a larger input than \(shape.height) × \(shape.width)", field: "paddingAmounts")
    }
    shape.height += amounts.top + amounts.bottom
    shape.width += amounts.left + amounts.right
    return [try shape.checked]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(kind != nil, "PaddingType", "the kind of padding is missing")
    faults.catching { _ = try explicitPadding() }
  }
}
