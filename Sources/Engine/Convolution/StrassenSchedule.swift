import Kernels

/// How the pixel pairs and panels of a 1 × 1 Strassen convolution are divided, and its working
/// memory.
///
/// A unit is one panel of one band of pairs. A thread computes a band's sums when it starts the
/// band, and keeps them for all of its panels. Sums of many input channels leave the cache before
/// the next panel, so they are divided into parts, each with its own schedule; a part adds its
/// products to those of the parts before.
struct StrassenSchedule: Sendable {
  /// The geometry with this part's input channels.
  let geometry: ConvolutionGeometry
  /// The first input channel.
  let firstInput: Int
  let pairs: Int
  let bands: Int
  /// Channel blocks of the first half; the second has the same number or one fewer.
  let inputBlocks: Int
  let outputBlocks: Int
  /// Channel blocks that are summed in one loop.
  let runBlocks: Int
  /// Panels of the output channels of one half.
  let panels: Int
  let panelBlocks: Int
  let block: Int
  let threads: Int
  /// Floats from one product's sums to the next product's.
  let sumStride: Int
  let productStride: Int

  /// Bytes for a band's sums, which share the second-level cache with a panel's products and
  /// weights.
  private static let bandBytes = MachineMemory.secondLevelCacheByteCount / 4 * 3
  /// The time to compute a band's sums, relative to a panel's products.
  private static let transformShare = 0.15

  /// The schedules of all parts.
  static func parts(
    of geometry: ConvolutionGeometry, kernels: any KernelTable.Type, threads: Int
  ) -> [StrassenSchedule] {
    let length = geometry.strassenPartInputs
    return stride(from: 0, to: geometry.inputs, by: length).map { first in
      var part = geometry
      part.inputs = min(length, geometry.inputs - first)
      return StrassenSchedule(part, firstInput: first, kernels: kernels, threads: threads)
    }
  }

  private init(
    _ geometry: ConvolutionGeometry, firstInput: Int, kernels: any KernelTable.Type, threads: Int
  ) {
    self.geometry = geometry
    self.firstInput = firstInput
    block = geometry.block
    panelBlocks = kernels.panelBlocks
    inputBlocks = geometry.halfInputs / block
    outputBlocks = geometry.halfOutputs / block
    runBlocks = kernels.runLength(of: geometry.halfInputs, longest: 64) / block
    panels = (outputBlocks + panelBlocks - 1) / panelBlocks
    pairs = geometry.pixelPairs
    self.threads = threads
    let tile = kernels.pixelTile
    let pairBytes = StrassenPairs.products * inputBlocks * block * 4
    let most = max(
      (ConvolutionGeometry.fewestPairs + tile - 1) / tile * tile,
      Self.bandBytes / pairBytes / tile * tile)
    bands = Self.bands(pairs, panels: panels, fewest: (pairs + most - 1) / most, tile, threads)
    let pairsAtOnce = (pairs + bands - 1) / bands
    sumStride = spreadStride(inputBlocks * pairsAtOnce * block)
    productStride = spreadStride(pairsAtOnce * panelBlocks * block)
  }

  /// The number of bands that gives the busiest thread the least work; each further band must gain
  /// at least a hundredth.
  private static func bands(
    _ pairs: Int, panels: Int, fewest: Int, _ tile: Int, _ threads: Int
  ) -> Int {
    let most = max(fewest, min(pairs / tile, fewest + 2 * threads))
    func longest(_ bands: Int) -> Double {
      (0..<threads).map { thread in
        let units = ThreadPool.share(of: bands * panels, thread, threads)
        var work = 0.0
        var present = -1
        for unit in units {
          let band = ThreadPool.share(of: pairs, unit / panels, bands)
          let tiles = Double((band.count + tile - 1) / tile)
          if unit / panels != present { work += tiles * transformShare }
          present = unit / panels
          work += tiles
        }
        return work
      }.max() ?? 0
    }
    return (fewest...most).min {
      longest($0) * Double(100 + $0 - fewest) < longest($1) * Double(100 + $1 - fewest)
    } ?? fewest
  }

  /// Whether parts before have written to the output.
  var addsToOutput: Bool { firstInput > 0 }

  var units: Int { bands * panels }

  func band(_ index: Int) -> Range<Int> { ThreadPool.share(of: pairs, index, bands) }

  /// Output channel blocks in a panel.
  func blocks(ofPanel panel: Int) -> Int { min(panelBlocks, outputBlocks - panel * panelBlocks) }

  /// Weights of one product in all panels before `panel`.
  func weightFloats(before panel: Int) -> Int {
    min(panel * panelBlocks, outputBlocks) * block * inputBlocks * block
  }
  var weightFloats: Int { StrassenPairs.products * weightFloats(before: panels) }

  /// Floats of sums and products per thread.
  var floatsOfThread: Int { StrassenPairs.products * (sumStride + productStride) }
  var scratchFloats: Int { threads * floatsOfThread }
}

extension ConvolutionGeometry {
  /// Pairs in a band for which multiplying by a panel's weights takes far longer than reading them.
  fileprivate static let fewestPairs = 64
  /// Bytes of sums that the second-level caches of current processors hold. Not that of this one,
  /// because results must not depend on it.
  private static let cachedBytes = 768 << 10

  /// Pairs of output pixels.
  var pixelPairs: Int { (images * rows * width + 1) / 2 }

  /// Input channels in all parts but the last, in whole blocks for both halves.
  fileprivate var strassenPartInputs: Int {
    let bytes = StrassenPairs.products * halfInputs * min(pixelPairs, Self.fewestPairs) * 4
    let parts = max(1, (bytes + Self.cachedBytes - 1) / Self.cachedBytes)
    return max(1, (inputs / block + 2 * parts - 1) / (2 * parts)) * 2 * block
  }

  /// The number of parts into which Strassen's algorithm divides the input channels.
  var strassenParts: Int { (inputs + strassenPartInputs - 1) / strassenPartInputs }
}
