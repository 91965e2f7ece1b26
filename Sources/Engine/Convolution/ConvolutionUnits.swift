/// How a convolution is divided into units: images × row bands × panels of output channels.
struct ConvolutionUnits: Sendable {
  struct Unit {
    var image: Int
    /// Rows of the output, or pixels if planes are processed as one long row.
    var rows: Range<Int>
    var panels: Range<Int>
  }

  private let images: Int
  private let length: Int
  private let panels: Int
  private var cut: Cut

  /// The number of bands per image, and whether panels are the inner loop instead of bands.
  private struct Cut {
    var bands: Int
    var panelsInner: Bool
  }

  var count: Int { images * cut.bands * panels }
  /// Whether each panel after the first reads the input that the previous one has just read.
  var rereadsInput: Bool { cut.panelsInner || cut.bands == 1 }

  init(
    _ plan: DirectPlan, from: BlobLayout, to: BlobLayout, window: WindowGeometry,
    isFlat: Bool, tile: Int, threads: Int
  ) {
    images = to.shape.images
    panels = plan.panels
    length = isFlat ? to.shape.area : to.shape.height
    let panelsInner = plan.panelBytes * plan.panels <= Self.cacheBytes
    // A band's input should stay in the second-level cache while all panels use it.
    let lineBytes =
      (isFlat ? from.block : from.rowStride) * from.channelBlocks * 4
      * (isFlat ? 1 : window.stride[0])
    var lines = max(1, Self.cacheBytes / max(1, lineBytes))
    if isFlat { lines = max(tile * 4, lines / tile * tile) }
    let fewest = (length + lines - 1) / lines
    cut = Cut(bands: fewest, panelsInner: panelsInner)
    guard threads > 1 else { return }
    // With many units per thread there is little to gain.
    let enough = threads * 16 / max(1, images * panels)
    let most = max(
      fewest, min(length / (isFlat ? max(1, tile / 2) : 1), fewest + 2 * threads, enough))
    let work = (0..<panels).map { plan.blocks(ofPanel: $0) }
    var least = Int.max
    for bands in fewest...most {
      for inner in [panelsInner, !panelsInner] {
        let candidate = Cut(bands: bands, panelsInner: inner)
        // Each further band must gain at least a hundredth.
        let longest =
          longestShare(candidate, work, threads)
          * (100 + bands - fewest + (inner == panelsInner ? 0 : 1))
        if longest < least {
          least = longest
          cut = candidate
        }
      }
    }
  }

  /// Lines × blocks of the busiest thread.
  private func longestShare(_ cut: Cut, _ work: [Int], _ threads: Int) -> Int {
    let count = images * cut.bands * panels
    return (0..<threads).map { thread in
      ThreadPool.share(of: count, thread, threads).reduce(0) { sum, index in
        let unit = self.unit(index, cut)
        return sum + unit.rows.count * work[unit.panels.lowerBound]
      }
    }.max() ?? 0
  }

  private static let cacheBytes = 384 << 10

  subscript(index: Int) -> Unit { unit(index, cut) }

  private func unit(_ index: Int, _ cut: Cut) -> Unit {
    let bands = cut.bands
    let image = index / (bands * panels)
    let rest = index % (bands * panels)
    let band = cut.panelsInner ? rest / panels : rest % bands
    let panel = cut.panelsInner ? rest % panels : rest / bands
    return Unit(
      image: image, rows: ThreadPool.share(of: length, band, bands), panels: panel..<panel + 1)
  }
}
