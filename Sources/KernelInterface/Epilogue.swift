/// An activation that a kernel applies to its result while it is still in registers.
package enum FusedActivation: UInt8, Sendable {
  case none
  /// `max(x, 0)`; a NaN stays.
  case relu
  /// `min(max(x, lower), upper)`; a NaN stays.
  case clip
  /// `x < 0 ? alpha * x : x`
  case leaky
  /// `x < 0 ? slopes[channel] * x : x`
  case prelu
}

/// What happens to sums before they are stored: `activation(sum + residual)`.
package struct Epilogue: @unchecked Sendable {
  package var activation: FusedActivation
  package var alpha: Float
  package var lower: Float
  package var upper: Float
  /// For `prelu`: one a channel of the output, padded to whole blocks.
  package var slopes: UnsafePointer<Float>?
  /// Blocked values to add before the activation, laid out like the output (its pixel stride
  /// included) but with own row and block strides, in floats; nil adds nothing.
  package var residual: UnsafePointer<Float>?
  package var residualBlockStride: Int
  package var residualRowStride: Int

  package init(
    activation: FusedActivation = .none, alpha: Float = 0, lower: Float = 0, upper: Float = 0,
    slopes: UnsafePointer<Float>? = nil, residual: UnsafePointer<Float>? = nil,
    residualBlockStride: Int = 0, residualRowStride: Int = 0
  ) {
    self.activation = activation
    self.alpha = alpha
    self.lower = lower
    self.upper = upper
    self.slopes = slopes
    self.residual = residual
    self.residualBlockStride = residualBlockStride
    self.residualRowStride = residualRowStride
  }
}
