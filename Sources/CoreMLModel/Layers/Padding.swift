import TensorCore

/// Adds borders.
package struct Padding: LayerParameters {
  package enum Kind: Sendable, Equatable {
    case constant(value: Float)
    /// Mirrored, without the edge.
    case reflection
    /// The edge, repeated.
    case replication
  }

  package static let typeName = "padding"

  package var kind: Kind?
  package var paddingAmounts: BorderAmounts?
  package var unknownFields = UnknownFields()

  package init() {}
}

extension Padding: EncodedMessage {
  static let fields: [Field<Self>] = [
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
}

extension Padding {
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
}

extension Padding: CheckedParameters {
  func check(_ faults: inout Faults) {
    faults.require(kind != nil, "PaddingType", "no kind of padding")
    faults.catching { _ = try explicitPadding() }
  }
}
