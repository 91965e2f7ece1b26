/// An activation that a kernel applies to its result while it is still in registers.
package enum FusedActivation: @unchecked Sendable {
  // `@unchecked`: nothing is written through the pointer.
  case none
  /// `max(x, 0)`; NaN stays NaN.
  case relu
  /// `min(max(x, lower), upper)`; NaN stays NaN.
  case clip(lower: Float, upper: Float)
  /// `x < 0 ? alpha * x : x`
  case leaky(Float)
  /// `x < 0 ? slopes[channel] * x : x`, with slopes padded to whole blocks.
  case prelu(UnsafePointer<Float>)
}

/// What happens to sums before they are stored: `activation(bias + sum + residual)`.
package struct Epilogue: @unchecked Sendable {
  /// One value per output channel, padded to whole blocks; nil is zero.
  package var bias: UnsafePointer<Float>?
  package var activation: FusedActivation
  /// Blocked values to add before the activation. They have the layout of the output, including its
  /// pixel stride, but separate strides for rows, blocks and images. Nil adds nothing.
  package var residual: UnsafePointer<Float>?
  package var residualStrides: Strides

  package init(
    bias: UnsafePointer<Float>? = nil, activation: FusedActivation = .none,
    residual: UnsafePointer<Float>? = nil, residualStrides: Strides = Strides()
  ) {
    (self.bias, self.activation, self.residual) = (bias, activation, residual)
    self.residualStrides = residualStrides
  }
}
