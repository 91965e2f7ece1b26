import Kernels
import TensorCore

/// How the tiles and panels of a Winograd convolution are divided, and the working memory for it.
///
/// Where the transformed input of enough tiles fits the second-level cache and the weights are few,
/// each thread takes batches of tiles through all steps by itself. Else all threads transform a
/// batch together and then share out the panels, so that weights pass through the caches once.
struct WinogradSchedule: Sendable {
  /// Of a tile.
  let size: Int
  /// Padded to whole blocks.
  let channels: Int
  let outputBlocks: Int
  let panels: Int
  /// Output channels of a full panel.
  let panelChannels: Int
  let tiles: Int
  let batches: Int
  let isShared: Bool
  let panelsAtOnce: Int
  let tileStride: Int
  let pointStride: Int
  let productStride: Int
  let threads: Int
  /// Whether the weights of each panel are expanded and transformed when their turn comes, instead
  /// of being kept in the kernels' order, which takes many times the memory of compressed ones.
  let expandsWeights: Bool

  /// Transformed input of a batch that one thread takes: measured best a little above the
  /// second-level cache.
  private static let privateBytes = MachineMemory.secondLevelCacheByteCount / 8 * 9
  private static let sharedBytes = 4 << 20
  /// Of a batch for which weights are expanded, such that they are expanded once.
  private static let expandedBytes = 16 << 20
  /// Compressed weights that take more than this in the kernels' order are not kept in it.
  private static let keptBytes = 17 << 20
  private static let repeatedWeightBytes = 12 << 20

  /// - Parameter weights: how the weights are stored; compressed ones are expanded in each run where
  ///   that happens no more than twice.
  init(
    _ geometry: ConvolutionGeometry, size: Int, weights: StoredWeights, kernels: KernelTable,
    threads: Int
  ) {
    self.size = size
    let points = WinogradTiles.points(size: size)
    channels = geometry.inputs
    outputBlocks = geometry.outputs / geometry.block
    panels = (outputBlocks + kernels.panelBlocks - 1) / kernels.panelBlocks
    panelChannels = kernels.panelBlocks * geometry.block
    let tiles = geometry.tiles(size: size)
    self.tiles = tiles
    self.threads = threads
    // A cache line more, so that tiles do not fall on the same few sets.
    tileStride = channels + 16
    let tileBytes = points * tileStride * 4
    let step = kernels.pixelTile
    func batch(_ bytes: Int) -> Int { max(step, bytes / tileBytes / step * step) }
    let alone = batch(Self.privateBytes)
    let weightBytes = points * channels * geometry.outputs * 4
    var expandsWeights = false
    var batches = 1
    let isAlone =
      (alone >= 2 * step && weightBytes <= Self.repeatedWeightBytes && tiles >= 2 * threads * step)
      || (panels < 2 * threads && tiles >= threads * step)
    isShared = !isAlone
    if isAlone {
      let wanted = max(1, (tiles + alone - 1) / alone)
      batches = max(1, min(tiles, (wanted + threads - 1) / threads * threads))
    } else {
      func count(_ bytes: Int) -> Int {
        let together = max(4 * step, batch(bytes))
        return max(1, (tiles + together - 1) / together)
      }
      batches = count(Self.sharedBytes)
      // Half precision is meant to save the file's space, and is not worth the time.
      if let compressed = weights.compressed, compressed.halves == nil,
        weightBytes > Self.keptBytes, count(Self.expandedBytes) <= 2
      {
        expandsWeights = true
        batches = count(Self.expandedBytes)
      }
    }
    self.batches = batches
    self.expandsWeights = expandsWeights
    let tilesAtOnce = (tiles + batches - 1) / batches
    pointStride = spreadStride(tilesAtOnce * tileStride)
    let panelFloats = tilesAtOnce * kernels.panelBlocks * geometry.block
    panelsAtOnce =
      isAlone || expandsWeights
      ? 1 : max(1, min(4, panels / threads, Self.privateBytes / (4 * points * max(1, panelFloats))))
    productStride = spreadStride(panelsAtOnce * panelFloats)
  }

  private var points: Int { WinogradTiles.points(size: size) }
  var transformedFloats: Int { points * pointStride }
  var productFloats: Int { points * productStride }
  /// Of one panel, which a thread expands: the weights themselves, and transformed.
  var expandedFloats: Int { expandsWeights ? panelChannels * channels * 9 : 0 }
  var panelWeightFloats: Int { points * channels * panelChannels }
  var scratchFloats: Int {
    (isShared ? 1 : threads) * transformedFloats + threads * productFloats
      + (expandsWeights ? min(threads, panels) * (expandedFloats + panelWeightFloats) : 0)
  }

  /// Floats of packed weights.
  static func weightFloats(_ geometry: ConvolutionGeometry, size: Int) -> Int {
    WinogradTiles.points(size: size) * geometry.inputs * geometry.outputs
  }
}
