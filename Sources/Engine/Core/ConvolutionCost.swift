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
  let geometry: ConvolutionGeometry
  let lanes: Double
  let rate: Double

  static let clock = 3e9
  static let bandwidth = 20e9
  /// Cycles that a vector of channels of one point takes to transform.
  private static let inputCycles = 7.0
  private static let outputCycles = 6.0

  init(_ geometry: ConvolutionGeometry, kernels: KernelTable) {
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

/// What a convolution computes, before any pooling.
struct ConvolutionGeometry: Sendable {
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
