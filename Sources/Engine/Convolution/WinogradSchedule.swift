import Kernels
import TensorCore

/// The division of a Winograd convolution's tiles and panels, and its working memory.
///
/// If the transformed input of enough tiles fits the second-level cache and there are few weights, if
/// there are too few panels, or if it costs less to read all weights than what other threads have
/// transformed, each thread takes batches of tiles through all steps alone. Otherwise
/// all threads transform a batch together and then share its panels, so that weights pass through the
/// caches once.
struct WinogradSchedule: Sendable {
  let geometry: ConvolutionGeometry
  let form: WinogradForm
  /// Input channels, padded to whole blocks.
  let channels: Int
  let outputBlocks: Int
  /// Output channels, padded to whole blocks.
  private let outputChannels: Int
  let panels: Int
  /// Output channels of a full panel.
  let panelChannels: Int
  let tiles: Int
  let batches: Int
  let isShared: Bool
  let panelsAtOnce: Int
  /// Parts of a shared batch's tiles that use a panel at the same time, if there are more threads
  /// than panels.
  let tileParts: Int
  let tileStride: Int
  let pointStride: Int
  let productStride: Int
  let threads: Int
  /// Whether to transform weights from their codes, in single precision. Does not depend on the
  /// number of threads, because results must not.
  let transformsCodes: Bool
  /// Whether each run transforms codes panel by panel instead of keeping transformed weights, which
  /// take many times the memory.
  let expandsWeights: Bool

  /// Bytes of transformed input in one thread's batch; fastest slightly above the L2 cache's size.
  private static let privateBytes = MachineMemory.secondLevelCacheByteCount / 8 * 9
  private static let sharedBytes = 4 << 20
  /// Bytes of transformed input in a batch, large enough to expand weights only once.
  private static let expandedBytes = 16 << 20
  /// If the transformed weights are larger than this, the codes are kept instead.
  private static let keptBytes = 4 << 20
  private static let repeatedWeightBytes = 12 << 20
  /// Bytes of weights that each thread reads from its own second-level cache.
  private static let nearWeightBytes = 1 << 20

  /// - Parameter weights: how the weights are stored; compressed ones are expanded in each run if
  ///   that happens at most twice.
  init(
    _ geometry: ConvolutionGeometry, _ form: WinogradForm, weights: StoredWeights,
    kernels: any KernelTable.Type, threads: Int
  ) {
    self.geometry = geometry
    self.form = form
    let points = form.points
    channels = geometry.inputs
    outputChannels = geometry.outputs
    outputBlocks = geometry.outputs / geometry.block
    panels = (outputBlocks + kernels.panelBlocks - 1) / kernels.panelBlocks
    panelChannels = kernels.panelBlocks * geometry.block
    let tiles = geometry.tiles(form)
    self.tiles = tiles
    self.threads = threads
    // An additional cache line keeps tiles from mapping to the same few cache sets.
    tileStride = channels + 16
    let tileBytes = points * tileStride * 4
    let step = kernels.pixelTile
    func batch(_ bytes: Int) -> Int { max(step, bytes / tileBytes / step * step) }
    let alone = batch(Self.privateBytes)
    let weightBytes = points * channels * geometry.outputs * 4
    func count(_ bytes: Int) -> Int {
      let together = max(4 * step, batch(bytes))
      return max(1, (tiles + together - 1) / together)
    }
    // Half precision is meant to save space in the file; expanding it in every run is too slow.
    transformsCodes =
      weights.compressed.map { !$0.isHalf } ?? false && weightBytes > Self.keptBytes
      && count(Self.expandedBytes) <= 2
    var batches = 1
    // The other threads' share of the weights, or of the transformed input.
    let readsLess =
      threads > 1
      && SharedRead.weights * Double(geometry.outputs) <= SharedRead.results * Double(tiles)
    let isAlone =
      (weightBytes <= Self.repeatedWeightBytes && !transformsCodes
        && (alone >= 2 * step && tiles >= 2 * threads * step
          || readsLess && tiles >= threads * step))
      || (panels < 2 * threads && tiles >= threads * step)
      || (panels < threads && 2 * tiles >= threads * step && weightBytes <= Self.nearWeightBytes)
    isShared = !isAlone
    if isAlone {
      let wanted = max(1, (tiles + alone - 1) / alone)
      batches = max(1, min(tiles, (wanted + threads - 1) / threads * threads))
    } else {
      batches = count(transformsCodes ? Self.expandedBytes : Self.sharedBytes)
    }
    expandsWeights = transformsCodes && isShared
    self.batches = batches
    let tilesAtOnce = (tiles + batches - 1) / batches
    pointStride = spreadStride(tilesAtOnce * tileStride)
    let panelFloats = tilesAtOnce * kernels.panelBlocks * geometry.block
    panelsAtOnce =
      isAlone || expandsWeights
      ? 1 : max(1, min(4, panels / threads, Self.privateBytes / (4 * points * max(1, panelFloats))))
    productStride = spreadStride(panelsAtOnce * panelFloats)
    tileParts = isAlone || expandsWeights ? 1 : max(1, min(threads / panels, tilesAtOnce / step))
  }

  private var points: Int { form.points }
  var strides: PointStrides { PointStrides(tile: tileStride, point: pointStride) }
  var transformedFloats: Int { points * pointStride }
  var productFloats: Int { points * productStride }
  /// Floats from one point's weights to the next point's, in a panel that a thread expands.
  var expandedPointStride: Int { spreadStride(channels * panelChannels) }
  var expandedFloats: Int { points * expandedPointStride }
  var panelWeightFloats: Int { points * channels * panelChannels }
  /// Output channels of a panel, padded to whole blocks.
  func width(ofPanel panel: Int) -> Int {
    min(panelChannels, outputChannels - panel * panelChannels)
  }
  var scratchFloats: Int {
    (isShared ? 1 : threads) * transformedFloats + threads * productFloats
      + (expandsWeights ? min(threads, panels) * expandedFloats : 0)
  }

  /// Floats of packed weights.
  static func weightFloats(_ geometry: ConvolutionGeometry, _ form: WinogradForm) -> Int {
    form.points * geometry.inputs * geometry.outputs
  }
}
