import Kernels
import TensorCore

/// How the tiles and panels of a Winograd convolution are divided, and the working memory for it.
///
/// Where the transformed input of enough tiles fits the second-level cache and the weights are few,
/// each thread takes batches of tiles through all steps by itself. Else all threads transform a
/// batch together and then share out the panels, so that weights pass through the caches once.
struct WinogradSchedule: Sendable {
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

  private static let privateBytes = 1152 << 10
  private static let sharedBytes = 4 << 20
  private static let repeatedWeightBytes = 12 << 20

  init(from: TensorLayout, to: TensorLayout, kernels: KernelTable, threads: Int) {
    channels = from.channelBlocks * from.block
    outputBlocks = to.channelBlocks
    panels = (outputBlocks + kernels.panelBlocks - 1) / kernels.panelBlocks
    tiles =
      to.shape.images * WinogradTiles.perImage(rows: to.shape.height, width: to.shape.width)
    self.threads = threads
    // A cache line more, so that tiles do not fall on the same few sets.
    tileStride = channels + 16
    let tileBytes = WinogradTiles.points * tileStride * 4
    let step = kernels.pixelTile
    func batch(_ bytes: Int) -> Int { max(step, bytes / tileBytes / step * step) }
    let alone = batch(Self.privateBytes)
    let weightBytes = WinogradTiles.points * channels * outputBlocks * to.block * 4
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
    /// Whole cache lines, an odd number of them.
    func spread(_ floats: Int) -> Int { (floats + 15) / 16 / 2 * 32 + 16 }
    pointStride = spread(tilesAtOnce * tileStride)
    let panelFloats = tilesAtOnce * kernels.panelBlocks * to.block
    panelsAtOnce =
      isAlone
      ? 1 : max(1, min(4, panels / threads, Self.privateBytes / (144 * max(1, panelFloats))))
    productStride = spread(panelsAtOnce * panelFloats)
  }

  var transformedFloats: Int { WinogradTiles.points * pointStride }
  var productFloats: Int { WinogradTiles.points * productStride }
  var scratchFloats: Int {
    (isShared ? 1 : threads) * transformedFloats + threads * productFloats
  }

  /// Floats of packed weights.
  static func weightFloats(inputs: Int, outputs: Int, block: Int) -> Int {
    func padded(_ channels: Int) -> Int { (channels + block - 1) / block * block }
    return WinogradTiles.points * padded(inputs) * padded(outputs)
  }
}
