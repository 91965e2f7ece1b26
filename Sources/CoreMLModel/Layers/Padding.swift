/// Adds borders.
public struct Padding: LayerParameters {
  public enum Kind: Sendable, Equatable {
    case constant(value: Float)
    /// Mirrored, without the edge.
    case reflection
    /// The edge, repeated.
    case replication
  }

  public static let typeName = "padding"

  public var kind: Kind?
  public var paddingAmounts: BorderAmounts?
  public var unknownFields = UnknownFields()

  public init() {}
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
