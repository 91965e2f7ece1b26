import Kernels

extension ConvolutionWeights {
  /// What Strassen's algorithm must take of the direct convolution's time to be worth its weights,
  /// which are 7/4 times as many.
  private static let worthwhile = 0.95

  /// Whether a convolution of blocked input is computed by Strassen's algorithm.
  func usesStrassen(
    _ window: WindowGeometry, output: Shape, kernels: any KernelTable.Type,
    _ algorithm: ConvolutionAlgorithm
  ) -> Bool {
    guard groups == 1, window.kernel == [1, 1] else { return false }
    switch algorithm {
    case .strassen: return true
    case .direct, .winograd2, .winograd4, .winograd6: return false
    case .automatic:
      if values.compressed != nil { return false }
      let cost = ConvolutionCost(geometry(output, kernels), kernels: kernels)
      return cost.strassen < Self.worthwhile * cost.direct(taps: 1)
    }
  }
}
