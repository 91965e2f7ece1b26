/// A function of z = scale · x + shift.
public struct Unary: LayerParameters {
  public enum Operation: Int, Sendable, CaseIterable {
    /// √z
    case sqrt = 0
    /// 1 / √(z + ε)
    case rsqrt = 1
    /// 1 / (z + ε)
    case inverse = 2
    /// z ^ α
    case power = 3
    case exp = 4
    case log = 5
    case abs = 6
    /// max(α, z)
    case threshold = 7
  }

  public static let typeName = "unary"
  public static let minimumRank = 1

  public var type = Operation.sqrt
  public var alpha: Float = 0
  /// 0 means 1e-6.
  public var epsilon: Float = 0
  public var shift: Float = 0
  /// 0 means 1.
  public var scale: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

extension Unary: EncodedMessage {
  static let fields: [Field<Self>] = [
    .value("type", \.type),
    .float("alpha", \.alpha),
    .float("epsilon", \.epsilon),
    .float("shift", \.shift),
    .float("scale", \.scale),
  ]
}

extension Unary {
  public var effectiveEpsilon: Float { epsilon == 0 ? 1e-6 : epsilon }
  public var effectiveScale: Float { scale == 0 ? 1 : scale }

  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try unchanged(inputs) }
}
