/// A function of z = scale · x + shift.
package struct Unary: LayerParameters {
  package enum Operation: Int, Sendable, CaseIterable {
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

  package static let typeName = "unary"
  package static let minimumRank = 1

  package var type = Operation.sqrt
  package var alpha: Float = 0
  /// 0 means 1e-6.
  package var epsilon: Float = 0
  package var shift: Float = 0
  /// 0 means 1.
  package var scale: Float = 0
  package var unknownFields = UnknownFields()

  package init() {}
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
  package var effectiveEpsilon: Float { epsilon == 0 ? 1e-6 : epsilon }
  package var effectiveScale: Float { scale == 0 ? 1 : scale }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try unchanged(inputs) }
}
