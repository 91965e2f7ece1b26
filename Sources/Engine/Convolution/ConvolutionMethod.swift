import Kernels

/// How one convolution is computed. `MethodSelection` chooses it once; all else asks the operation.
enum ConvolutionMethod: Sendable, Equatable {
  /// Multiplies and adds as the definition does.
  case direct
  /// By Winograd's algorithm, in these tiles.
  case winograd(WinogradForm)
  /// By one level of Strassen's algorithm, with 1 × 1 kernels.
  case strassen

  /// What Strassen's algorithm must take of the direct convolution's time to be worth its weights,
  /// which are 7/4 times as many.
  private static let strassenShare = 0.95
  /// Below these, tiles of 6 × 6 save too little to triple the rounding error of tiles of 4 × 4 for
  /// it: of a small map much of a tile is cut off, with few channels the transforms outweigh the rest.
  private static let worthLargeTiles = [(map: 100, channels: 64), (map: 28, channels: 256)]
  /// Below this, the weights of tiles of 6 × 6, which are 16/9 as many, keep multiplications waiting.
  private static let leastIntensity = 2.0
  /// Above this, the transformed weights of larger tiles than 2 × 2 take too much memory, and too long
  /// from there as soon as threads share its bandwidth.
  private static let manyWeightBytes = 64 << 20

  /// Of a convolution whose input and output are in blocks, by what is asked for or, with
  /// `automatic`, by what takes the least time.
  ///
  /// - Parameter output: before any pooling.
  init(
    _ weights: ConvolutionWeights, _ window: WindowGeometry, output: Shape,
    kernels: any KernelTable.Type, _ algorithm: ConvolutionAlgorithm
  ) {
    self = .direct
    guard weights.groups == 1 else { return }
    let cost = ConvolutionCost(weights.geometry(output, kernels), kernels: kernels)
    if window.kernel == [1, 1] {
      let isWorthwhile =
        weights.values.compressed == nil
        && cost.strassen < Self.strassenShare * cost.direct(taps: 1)
      if algorithm == .strassen || algorithm == .automatic && isWorthwhile { self = .strassen }
      return
    }
    guard window.stride == [1, 1], window.dilation == [1, 1] else { return }
    let forms = WinogradForm.allCases.filter { $0.kernel == window.kernel }
    guard let only = forms.first else { return }
    let isSquare = forms.count > 1
    switch algorithm {
    case .direct, .strassen: break
    case .winograd2: self = .winograd(isSquare ? .two : only)
    case .winograd4: self = .winograd(isSquare ? .four : only)
    case .winograd6: self = .winograd(isSquare ? .six : only)
    case .automatic:
      let direct = cost.direct(taps: window.kernel[0] * window.kernel[1])
      guard let least = forms.map({ cost.winograd($0) }).min(), least < direct else { break }
      self = .winograd(isSquare ? Self.squareForm(weights, cost, output) : only)
    }
  }

  /// A larger tile must be worth its weights.
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
