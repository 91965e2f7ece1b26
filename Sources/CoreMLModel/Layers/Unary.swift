/// A function of z = scale · x + shift.
package struct Unary: LayerParameters, ShapeKeepingLayer {
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
    /// log(z + ε), with ε = 0 if the file has none. The specification omits ε; Apple's tests of
    /// coremltools (`TestElementwiseUnary`) expect Core ML to add it.
    case log = 5
    case abs = 6
    /// max(α, z)
    case threshold = 7
  }

  package static let minimumRank = 0

  package var type = Operation.sqrt
  package var alpha: Float = 0
  /// 0 means 1e-6, except for `log`.
  package var epsilon: Float = 0
  package var shift: Float = 0
  /// 0 means 1.
  package var scale: Float = 0

  package init() {}

  package static let fields: Fields = [
    .value("type", \.type),
    .float("alpha", \.alpha),
    .float("epsilon", \.epsilon),
    .float("shift", \.shift),
    .float("scale", \.scale),
  ]

  /// An unset field is 0 and means 1e-6; −0 means 0.
  package var effectiveEpsilon: Float { epsilon.bitPattern == 0 ? 1e-6 : epsilon }
  package var effectiveScale: Float { scale == 0 ? 1 : scale }
}
