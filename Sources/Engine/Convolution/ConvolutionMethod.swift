import Kernels

extension ConvolutionWeights {
  /// Below these, tiles of 6 × 6 save too little to triple the rounding error of tiles of 4 × 4 for
  /// it: of a small map much of a tile is cut off, with few channels the transforms outweigh the rest.
  private static let worthLargeTiles = [(map: 100, channels: 64), (map: 28, channels: 256)]
  /// Below this, the weights of tiles of 6 × 6, which are 16/9 as many, keep multiplications waiting.
  private static let leastIntensity = 2.0
  /// Above this, the transformed weights of larger tiles than 2 × 2 take too much memory, and too long
  /// from there as soon as threads share its bandwidth.
  private static let manyWeightBytes = 64 << 20

  /// The tiles by which Winograd's algorithm computes the convolution of blocked input; nil where it
  /// cannot or is not chosen.
  func winogradForm(
    _ window: WindowGeometry, output: Shape, kernels: any KernelTable.Type,
    _ algorithm: ConvolutionAlgorithm
  ) -> WinogradForm? {
    guard groups == 1, window.stride == [1, 1], window.dilation == [1, 1] else { return nil }
    let forms = WinogradForm.allCases.filter { $0.kernel == window.kernel }
    guard let only = forms.first else { return nil }
    let isSquare = forms.count > 1
    switch algorithm {
    case .direct, .strassen: return nil
    case .winograd2: return isSquare ? .two : only
    case .winograd4: return isSquare ? .four : only
    case .winograd6: return isSquare ? .six : only
    case .automatic:
      let geometry = geometry(output, kernels)
      let cost = ConvolutionCost(geometry, kernels: kernels)
      let direct = cost.direct(taps: window.kernel[0] * window.kernel[1])
      guard let least = forms.map({ cost.winograd($0) }).min(), least < direct else { return nil }
      return isSquare ? squareForm(geometry, cost, output) : only
    }
  }

  /// A larger tile must be worth its weights.
  private func squareForm(
    _ geometry: ConvolutionGeometry, _ cost: ConvolutionCost, _ output: Shape
  ) -> WinogradForm {
    let four = cost.winograd(.four)
    let isLarge = Self.worthLargeTiles.contains {
      min(output.height, output.width) >= $0.map && min(inputs, outputs) >= $0.channels
    }
    if isLarge && cost.intensity(.six) >= Self.leastIntensity
      && cost.winograd(.six) < 0.95 * four
    {
      return .six
    }
    let weightBytes = 4 * WinogradSchedule.weightFloats(geometry, .four)
    return cost.winograd(.two) < four || weightBytes > Self.manyWeightBytes ? .two : .four
  }
}
