extension UInt8 {
  /// The nearest integer in 0…255, halves away from zero; NaN becomes 0.
  @inlinable
  package init(rounding value: Float) {
    self = value >= 0 ? UInt8(Swift.min(value, 255).rounded()) : 0
  }
}
