import Kernels

/// How to compute one convolution. `MethodSelection` chooses the method once; all other code asks
/// the operation.
enum ConvolutionMethod: Sendable, Equatable {
  /// Multiplies and adds as in the definition.
  case direct
  /// Winograd's algorithm with these tiles.
  case winograd(WinogradForm)
  /// Rounds inputs to 8 bits and multiplies them by the codes of the weights.
  case integers

  /// Below these sizes, 6 × 6 tiles save too little to justify three times the rounding error of 4
  /// × 4 tiles: in a small map, much of a tile is cut off, and with few channels, the transforms
  /// dominate.
  private static let worthLargeTiles = [(map: 100, channels: 64), (map: 28, channels: 256)]
  /// Below this, multiplications wait for the weights of 6 × 6 tiles, which are 16/9 times as many.
  private static let leastIntensity = 1.25
  /// Above this, the transformed weights of tiles larger than 2 × 2 take too much memory, and too
  /// long to read if threads share the bandwidth.
  private static let manyWeightBytes = 64 << 20

  /// The method for a convolution with blocked input and output: the requested one, or the fastest
  /// for `automatic`.
  ///
  /// - Parameter output: the shape before any pooling.
  init(
    _ weights: ConvolutionWeights, _ window: WindowGeometry, output: Shape,
    kernels: any KernelTable.Type, _ algorithm: ConvolutionAlgorithm
  ) {
    self = .direct
    guard weights.groups == 1, window.stride == [1, 1], window.dilation == [1, 1] else { return }
    let forms = WinogradForm.allCases.filter { $0.kernel == window.kernel }
    guard let only = forms.first else { return }
    let isSquare = forms.count > 1
    switch algorithm {
    case .direct: break
    case .winograd2: self = .winograd(isSquare ? .two : only)
    case .winograd4: self = .winograd(isSquare ? .four : only)
    case .winograd6: self = .winograd(isSquare ? .six : only)
    case .automatic:
      let cost = ConvolutionCost(weights.geometry(output, kernels), kernels: kernels)
      let direct = cost.direct(taps: window.kernel[0] * window.kernel[1])
      guard let least = forms.map({ cost.winograd($0) }).min(), least < direct else { break }
      self = .winograd(isSquare ? Self.squareForm(weights, cost, output) : only)
    }
  }

  /// Chooses a larger tile only if it is worth the additional weights.
  private static func squareForm(
    _ weights: ConvolutionWeights, _ cost: ConvolutionCost, _ output: Shape
  ) -> WinogradForm {
    let four = cost.winograd(.four)
    let isLarge = worthLargeTiles.contains {
      min(output.height, output.width) >= $0.map
        && min(weights.inputs, weights.outputs) >= $0.channels
    }
    if isLarge && cost.intensity(.six) >= leastIntensity && cost.winograd(.six) < 0.95 * four {
      return .six
    }
    let weightBytes = 4 * WinogradSchedule.weightFloats(cost.geometry, .four)
    return cost.winograd(.two) < four || weightBytes > manyWeightBytes ? .two : .four
  }
}
