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
  let tiles: Int
  let batches: Int
  let isShared: Bool
  let panelsAtOnce: Int
  let tileStride: Int
  let pointStride: Int
  let productStride: Int
  let threads: Int

  /// Transformed input of a batch that one thread takes: measured best a little above the
  /// second-level cache.
  private static let privateBytes = MachineMemory.secondLevelCacheByteCount / 8 * 9
  private static let sharedBytes = 4 << 20
  private static let repeatedWeightBytes = 12 << 20

  init(_ geometry: WinogradGeometry, size: Int, kernels: KernelTable, threads: Int) {
    self.size = size
    let points = WinogradTiles.points(size: size)
    channels = geometry.inputs
    outputBlocks = geometry.outputs / geometry.block
    panels = (outputBlocks + kernels.panelBlocks - 1) / kernels.panelBlocks
    tiles = geometry.tiles(size: size)
    self.threads = threads
    // A cache line more, so that tiles do not fall on the same few sets.
    tileStride = channels + 16
    let tileBytes = points * tileStride * 4
    let step = kernels.pixelTile
    func batch(_ bytes: Int) -> Int { max(step, bytes / tileBytes / step * step) }
    let alone = batch(Self.privateBytes)
    let weightBytes = points * channels * geometry.outputs * 4
    let isAlone =
      (alone >= 2 * step && weightBytes <= Self.repeatedWeightBytes && tiles >= 2 * threads * step)
      || (panels < 2 * threads && tiles >= threads * step)
    isShared = !isAlone
    if isAlone {
      let wanted = max(1, (tiles + alone - 1) / alone)
      batches = max(1, min(tiles, (wanted + threads - 1) / threads * threads))
    } else {
      let together = max(4 * step, batch(Self.sharedBytes))
      batches = max(1, (tiles + together - 1) / together)
    }
    let tilesAtOnce = (tiles + batches - 1) / batches
    pointStride = spreadStride(tilesAtOnce * tileStride)
    let panelFloats = tilesAtOnce * kernels.panelBlocks * geometry.block
    panelsAtOnce =
      isAlone
      ? 1 : max(1, min(4, panels / threads, Self.privateBytes / (4 * points * max(1, panelFloats))))
    productStride = spreadStride(panelsAtOnce * panelFloats)
  }

  private var points: Int { WinogradTiles.points(size: size) }
  var transformedFloats: Int { points * pointStride }
  var productFloats: Int { points * productStride }
  var scratchFloats: Int {
    (isShared ? 1 : threads) * transformedFloats + threads * productFloats
  }

  /// Floats of packed weights.
  static func weightFloats(_ geometry: WinogradGeometry, size: Int) -> Int {
    WinogradTiles.points(size: size) * geometry.inputs * geometry.outputs
  }
}
