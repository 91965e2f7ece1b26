import Kernels

extension ConvolutionWeights {
  /// Below these, tiles of 6 × 6 save too little to triple the rounding error of tiles of 4 × 4 for
  /// it: of a small map much of a tile is cut off, with few channels the transforms outweigh the rest.
  private static let largeMap = 100
  private static let manyChannels = 64
  /// Above this, the transformed weights of larger tiles than 2 × 2 take too much memory, and too long
  /// from there as soon as threads share its bandwidth.
  private static let manyWeightBytes = 64 << 20

  /// The size of the tiles by which Winograd's algorithm computes the convolution of blocked input;
  /// nil where it cannot or is not chosen. A larger tile must be worth its weights.
  func winogradSize(
    _ window: WindowGeometry, output: Shape, kernels: KernelTable, _ algorithm: ConvolutionAlgorithm
  ) -> Int? {
    guard groups == 1, window.kernel == [3, 3], window.stride == [1, 1], window.dilation == [1, 1]
    else { return nil }
    switch algorithm {
    case .direct, .strassen: return nil
    case .winograd2: return 2
    case .winograd4: return 4
    case .winograd6: return 6
    case .automatic:
      let geometry = geometry(output, kernels)
      let cost = ConvolutionCost(geometry, kernels: kernels)
      let two = cost.winograd(size: 2)
      let four = cost.winograd(size: 4)
      let six = cost.winograd(size: 6)
      if min(two, four, six) >= cost.direct(taps: 9) { return nil }
      let isLarge =
        min(output.height, output.width) >= Self.largeMap
        && min(inputs, outputs) >= Self.manyChannels
      if isLarge && six < 0.95 * four { return 6 }
      let weightBytes = 4 * WinogradSchedule.weightFloats(geometry, size: 4)
      return two < four || weightBytes > Self.manyWeightBytes ? 2 : 4
    }
  }
}
