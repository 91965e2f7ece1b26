import Kernels

extension ConvolutionCost {
  /// Cycles that a vector of channels takes in each of the halves: its sums, and what is made of its
  /// products.
  private static let strassenInputCycles = 10.0
  private static let strassenOutputCycles = 16.0

  /// The seconds that a 1 × 1 convolution is estimated to take by Strassen's algorithm.
  ///
  ///     max(n/2 · 7 · C/2 · K/2 / rate, 7/4 · C · K · 4 B / bandwidth)
  ///     + n/2 · (C/2 · input cycles + K/2 · output cycles) / lanes / clock
  var strassen: Double {
    let pairs = Double((pixels + 1) / 2)
    let quarter = Double(geometry.inputs / 2) * Double(geometry.outputs / 2)
    let products = Double(StrassenPairs.products) * quarter
    let transforms =
      Double(geometry.inputs / 2) * Self.strassenInputCycles
      + Double(geometry.outputs / 2) * Self.strassenOutputCycles
    return max(pairs * products / rate, 4 * products / Self.bandwidth)
      + pairs * transforms / lanes / Self.clock
  }
}

extension ConvolutionWeights {
  /// What Strassen's algorithm must take of the direct convolution's time to be worth its weights,
  /// which are 7/4 times as many.
  private static let worthwhile = 0.95

  /// Whether a convolution of blocked input is computed by Strassen's algorithm.
  func usesStrassen(
    _ window: WindowGeometry, output: Shape, kernels: KernelTable, _ algorithm: ConvolutionAlgorithm
  ) -> Bool {
    guard groups == 1, window.kernel == [1, 1] else { return false }
    let geometry = ConvolutionGeometry(
      output, inputs: inputs, outputs: outputs, block: kernels.channelBlock)
    guard geometry.inputs / geometry.block % 2 == 0, geometry.outputs / geometry.block % 2 == 0
    else { return false }
    switch algorithm {
    case .strassen: return true
    case .direct, .winograd2, .winograd4, .winograd6: return false
    case .automatic:
      if values.compressed != nil { return false }
      let cost = ConvolutionCost(geometry, kernels: kernels)
      return cost.strassen < Self.worthwhile * cost.direct(taps: 1)
    }
  }
}
