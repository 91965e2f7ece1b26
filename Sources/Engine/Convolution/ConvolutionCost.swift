import CoreMLModel
import Kernels

/// Estimated seconds for a convolution: directly, with kernels of k taps, or with Winograd's
/// algorithm in tiles of p points, along one or two axes.
///
///     direct   = max(n · k · C · K / rate, k · C · K · 4 B / bandwidth)
///     Winograd = max(t · p · C · K / rate, p · C · K · 4 B / bandwidth)
///              + t · p · axes · (C · input cycles + K · output cycles) / lanes / clock
///
/// for n output pixels, t tiles, and C and K channels padded to whole blocks, on one core: the
/// choice must not depend on the number of threads, because results must not. The constants are
/// measured (docs/design/0017): for 122 layers of six networks, the choices take 0.03% longer than
/// the fastest with AVX-512, and no longer with AVX2.
struct ConvolutionCost {
  let geometry: ConvolutionGeometry
  private let lanes: Double
  private let rate: Double

  private static let clock = 3e9
  private static let bandwidth = 12.5e9
  /// Cycles to transform one point's vector of channels along one axis.
  private static let winogradCycles = (input: 1.9, output: 13.0)

  init(_ geometry: ConvolutionGeometry, kernels: any KernelTable.Type) {
    self.geometry = geometry
    lanes = Double(kernels.panelBlocks * geometry.block) / 2
    // Without fused multiply-adds, multiplications and additions alternate.
    rate = Self.clock * lanes * (lanes > 4 ? 2 : 1) * 0.85
  }

  private var pairs: Int { geometry.inputs * geometry.outputs }

  private var pixels: Int { geometry.images * geometry.rows * geometry.width }

  /// Seconds for the multiply-adds of `weights` weights, each used `uses` times.
  private func multiplying(_ weights: Int, uses: Int) -> Double {
    max(
      Double(MultiplyAdds.product([uses], [weights])) / rate,
      4 * Double(weights) / Self.bandwidth)
  }

  func direct(taps: Int) -> Double { multiplying(taps * pairs, uses: pixels) }

  func winograd(_ form: WinogradForm) -> Double {
    let tiles = geometry.tiles(form)
    let points = Double(form.points)
    let transforms =
      Double(form.dimensions)
      * (Double(geometry.inputs) * Self.winogradCycles.input
        + Double(geometry.outputs) * Self.winogradCycles.output)
    return multiplying(form.points * pairs, uses: tiles)
      + Double(tiles) * points * transforms / lanes / Self.clock
  }

  /// The time for all multiplications divided by the time to read the weights.
  func intensity(_ form: WinogradForm) -> Double {
    Double(geometry.tiles(form)) / rate * Self.bandwidth / 4
  }
}

/// The sizes of a convolution, before any pooling.
struct ConvolutionGeometry: Sendable {
  var images: Int
  /// Rows of the output.
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

  func tiles(_ form: WinogradForm) -> Int {
    images * WinogradTiles.perImage(form: form, rows: rows, width: width)
  }
}
