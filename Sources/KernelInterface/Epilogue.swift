/// An activation that a kernel applies to its result while it is still in registers.
public enum FusedActivation: UInt8, Sendable {
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
public struct Epilogue: @unchecked Sendable {
  public var activation: FusedActivation
  public var alpha: Float
  public var lower: Float
  public var upper: Float
  /// For `prelu`: one a channel of the output, padded to whole blocks.
  public var slopes: UnsafePointer<Float>?
  /// Blocked values to add before the activation, laid out like the output (its pixel stride
  /// included) but with own row and block strides, in floats; nil adds nothing.
  public var residual: UnsafePointer<Float>?
  public var residualBlockStride: Int
  public var residualRowStride: Int

  public init(
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
