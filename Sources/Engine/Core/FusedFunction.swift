import Kernels
import TensorCore

/// An activation that a kernel applies while its result is still in registers.
enum FusedFunction: Sendable, Equatable {
  case none
  case relu
  case leaky(Float)
  case prelu([Float])
  case clip(Float, Float)

  /// The equivalent of an element function, if kernels can fuse it.
  init?(_ function: ScaledFunction) {
    guard function.scale == 1, function.shift == 0 else { return nil }
    switch (function.function, function.alpha, function.beta) {
    case (.relu, _, _): self = .relu
    case (.leaky, .scalar(let alpha), _): self = .leaky(alpha)
    case (.leaky, .perChannel(let slopes), _): self = .prelu(slopes)
    case (.clip, .scalar(let lower), .scalar(let upper)): self = .clip(lower, upper)
    default: return nil
    }
  }

  /// The function's value at `x`.
  func applied(_ x: Float, channel: Int) -> Float {
    switch self {
    case .none: x
    case .relu: max(x, 0)
    case .leaky(let alpha): x < 0 ? alpha * x : x
    case .prelu(let slopes): x < 0 ? slopes[channel] * x : x
    case .clip(let lower, let upper): min(max(x, lower), upper)
    }
  }

  /// Whether the function maps 0 to 0.
  var keepsZero: Bool {
    if case .clip(let lower, let upper) = self { lower <= 0 && upper >= 0 } else { true }
  }

  var label: String {
    switch self {
    case .none: ""
    case .relu: " + relu"
    case .leaky, .prelu: " + leaky"
    case .clip: " + clip"
    }
  }
}

/// The bias and activation per output channel, in the form that kernels read.
struct FusedEpilogue: Sendable {
  private let bias: Constant?
  private let slopes: Constant?
  private let activation: FusedActivation

  /// - Parameter channels: the number of channels, padded to whole blocks.
  init(bias: [Float]?, _ function: FusedFunction, channels: Int) throws {
    self.bias = try bias.map { try Constant($0, paddedTo: channels) }
    if case .prelu(let slopes) = function {
      let slopes = try Constant(slopes, paddedTo: channels)
      self.slopes = slopes
      activation = .prelu(slopes.pointer)
      return
    }
    slopes = nil
    activation =
      switch function {
      case .none, .prelu: .none
      case .relu: .relu
      case .leaky(let alpha): .leaky(alpha)
      case .clip(let lower, let upper): .clip(lower: lower, upper: upper)
      }
  }

  /// The epilogue for the channels from `channel` on.
  func from(_ channel: Int = 0) -> Epilogue {
    Epilogue(
      bias: bias.map { $0.pointer + channel },
      activation: slopes.map { .prelu($0.pointer + channel) } ?? activation)
  }
}
