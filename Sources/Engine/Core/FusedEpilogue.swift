import Kernels
import TensorCore

/// The bias and activation per output channel, in the form that kernels read.
struct FusedEpilogue: Sendable {
  private let bias: Constant?
  private let slopes: Constant?
  private let activation: FusedActivation

  /// - Parameters:
  ///   - function: one that kernels can fuse, or none.
  ///   - channels: the number of channels, padded to whole blocks.
  init(bias: [Float]?, _ function: ScaledFunction?, channels: Int) throws {
    self.bias = try bias.map { try Constant($0, paddedTo: channels) }
    if function?.function == .leaky, case .perChannel(let slopes)? = function?.alpha {
      let slopes = try Constant(slopes, paddedTo: channels)
      self.slopes = slopes
      activation = .prelu(slopes.pointer)
      return
    }
    slopes = nil
    let (alpha, beta) = (function?.alpha.value(0) ?? 0, function?.beta.value(0) ?? 0)
    activation =
      switch function?.function {
      case .relu: .relu
      case .leaky: .leaky(alpha)
      case .clip: .clip(lower: alpha, upper: beta)
      default: .none
      }
  }

  /// The epilogue for the channels from `channel` on.
  func from(_ channel: Int = 0) -> Epilogue {
    Epilogue(
      bias: bias.map { $0.pointer + channel },
      activation: slopes.map { .prelu($0.pointer + channel) } ?? activation)
  }
}

extension ScaledFunction {
  /// Whether kernels can apply the function while their results are still in registers.
  var isFusible: Bool {
    guard scale == 1, shift == 0 else { return false }
    return function == .relu || function == .leaky
      || function == .clip && !alpha.isPerChannel && !beta.isPerChannel
  }
}

extension ScaledFunction? {
  var label: String { map { RowFunctions.label([$0]) } ?? "" }
}
