import Kernels

/// The seconds that a 3 × 3 convolution is estimated to take, directly and by Winograd's algorithm.
///
///     direct   = max(n · 9 · C · K / rate, 9 · C · K · 4 B / bandwidth)
///     Winograd = max(t · 36 · C · K / rate, 36 · C · K · 4 B / bandwidth)
///              + t · (C · input cycles + K · output cycles) / lanes / clock
///
/// for n output pixels, t tiles, and C and K channels padded to whole blocks, on one core: the choice
/// must not depend on the number of threads, since results must not. Only the relation of the two
/// matters; the constants are those of a current processor of the instruction set.
struct ConvolutionCost {
  var direct: Double
  var winograd: Double

  private static let clock = 3e9
  private static let bandwidth = 20e9
  /// Cycles that a vector of channels of one tile takes to transform.
  private static let inputCycles = 260.0
  private static let outputCycles = 200.0

  init(_ schedule: WinogradSchedule, pixels: Int, kernels: KernelTable) {
    let block = kernels.channelBlock
    let lanes = Double(kernels.panelBlocks * block) / 2
    // Where there is no fused multiply-add the two take turns.
    let rate = Self.clock * lanes * (lanes > 4 ? 2 : 1) * 0.85
    let inputs = Double(schedule.channels)
    let outputs = Double(schedule.outputBlocks * block)
    let pairs = inputs * outputs
    let tiles = Double(schedule.tiles)
    let points = Double(WinogradTiles.points)
    direct = max(Double(pixels) * 9 * pairs / rate, 36 * pairs / Self.bandwidth)
    winograd =
      max(tiles * points * pairs / rate, points * 4 * pairs / Self.bandwidth)
      + tiles * (inputs * Self.inputCycles + outputs * Self.outputCycles) / lanes
      / Self.clock
  }
}

extension ConvolutionWeights {
  /// Whether Winograd's algorithm can compute the convolution and is chosen.
  func usesWinograd(_ window: WindowGeometry, _ context: StepContext) -> Bool {
    let from = context.inputs[0].layout
    let to = context.outputs[0].layout
    guard groups == 1, window.kernel == [3, 3], window.stride == [1, 1],
      window.dilation == [1, 1], from.block == context.channelBlock,
      to.block == context.channelBlock
    else { return false }
    switch context.convolution {
    case .direct: return false
    case .winograd: return true
    case .automatic:
      let schedule = WinogradSchedule(
        from: from, to: to, kernels: context.kernels, threads: 1)
      let cost = ConvolutionCost(
        schedule, pixels: to.shape.images * to.shape.area, kernels: context.kernels)
      return cost.winograd < cost.direct
    }
  }
}
