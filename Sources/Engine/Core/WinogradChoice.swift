import Kernels

/// The seconds that a 3 × 3 convolution is estimated to take, directly and by Winograd's algorithm
/// with tiles of m × m.
///
///     direct   = max(n · 9 · C · K / rate, 9 · C · K · 4 B / bandwidth)
///     Winograd = max(t · (m + 2)² · C · K / rate, (m + 2)² · C · K · 4 B / bandwidth)
///              + t · (m + 2)² · (C · input cycles + K · output cycles) / lanes / clock
///
/// for n output pixels, t tiles, and C and K channels padded to whole blocks, on one core: the choice
/// must not depend on the number of threads, since results must not. Only the relation of them
/// matters; the constants are those of a current processor of the instruction set.
struct ConvolutionCost {
  let geometry: WinogradGeometry
  let lanes: Double
  let rate: Double

  static let clock = 3e9
  static let bandwidth = 20e9
  /// Cycles that a vector of channels of one point takes to transform.
  private static let inputCycles = 7.0
  private static let outputCycles = 6.0

  init(_ geometry: WinogradGeometry, kernels: KernelTable) {
    self.geometry = geometry
    lanes = Double(kernels.panelBlocks * geometry.block) / 2
    // Where there is no fused multiply-add the two take turns.
    rate = Self.clock * lanes * (lanes > 4 ? 2 : 1) * 0.85
  }

  private var pairs: Double { Double(geometry.inputs) * Double(geometry.outputs) }

  var pixels: Int { geometry.images * geometry.rows * geometry.width }

  func direct(taps: Int) -> Double {
    let products = Double(taps) * pairs
    return max(Double(pixels) * products / rate, 4 * products / Self.bandwidth)
  }

  func winograd(size: Int) -> Double {
    let tiles = Double(geometry.tiles(size: size))
    let points = Double(WinogradTiles.points(size: size))
    let transforms =
      Double(geometry.inputs) * Self.inputCycles + Double(geometry.outputs) * Self.outputCycles
    return max(tiles * points * pairs / rate, points * 4 * pairs / Self.bandwidth)
      + tiles * points * transforms / lanes / Self.clock
  }
}

/// What a 3 × 3 convolution computes, before any pooling.
struct WinogradGeometry: Sendable {
  var images: Int
  /// Of the output.
  var rows: Int
  var width: Int
  /// Channels, padded to whole blocks.
  var inputs: Int
  var outputs: Int
  var block: Int

  init(_ output: Shape, inputs: Int, outputs: Int, block: Int) {
    func padded(_ channels: Int) -> Int { (channels + block - 1) / block * block }
    images = output.images
    rows = output.height
    width = output.width
    self.inputs = padded(inputs)
    self.outputs = padded(outputs)
    self.block = block
  }

  func tiles(size: Int) -> Int {
    images * WinogradTiles.perImage(size: size, rows: rows, width: width)
  }
}

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
      let geometry = WinogradGeometry(
        output, inputs: inputs, outputs: outputs, block: kernels.channelBlock)
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
