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
