/// What a thread loses with a byte from beyond its core's own caches, in multiply-adds. Measured on
/// processors without a second-level cache that cores share.
enum SharedRead {
  /// Packed weights that each thread reads, prefetched from the cache of all cores.
  static let weights = 2.0
  /// What another core has just written.
  static let results = 8.0
}

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

  /// The number of bands per image and of panel groups, and whether the groups are the inner loop.
  private struct Cut {
    var bands: Int
    var groups: Int
    var panelsInner: Bool
  }

  var count: Int { images * cut.bands * cut.groups }
  /// Whether each panel after the first reads the input that the previous one has just read.
  var rereadsInput: Bool { cut.panelsInner || cut.bands == 1 }

  init(_ plan: DirectPlan, _ window: WindowGeometry, isFlat: Bool, _ context: StepContext) {
    let (from, to) = (context.inputs[0].layout, context.outputs[0].layout)
    let (tile, threads) = (context.kernels.pixelTile, context.threadCount)
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
    cut = Cut(bands: fewest, groups: panels, panelsInner: panelsInner)
    let work = (0..<panels).map { plan.blocks(ofPanel: $0) }
    if plan.tiles != .none {
      cutForTiles(work, pixels: isFlat ? 1 : to.shape.width, threads)
      return
    }
    guard threads > 1 else { return }
    // With many units per thread, there is little to gain.
    let enough = threads * 16 / max(1, images * panels)
    let most = max(
      fewest, min(length / (isFlat ? max(1, tile / 2) : 1), fewest + 2 * threads, enough))
    // Of a line's pixels and one block of outputs.
    let multiplyAdds =
      (isFlat ? 1 : to.shape.width) * plan.panelBytes / (4 * plan.blocks(ofPanel: 0))
    let others = Double(threads - 1) / Double(threads)
    let weights = others * SharedRead.weights * Double(plan.panelBytes * panels)
    let results = others * SharedRead.results * Double(lineBytes * length)
    var least = Double.infinity
    for bands in fewest...most {
      for inner in [panelsInner, !panelsInner] {
        let candidate = Cut(bands: bands, groups: panels, panelsInner: inner)
        let busiest = longestShare(candidate, threads) {
          $0.rows.count * work[$0.panels.lowerBound]
        }
        // Each additional band must gain at least one percent.
        let percent = 100 + bands - fewest + (inner == panelsInner ? 0 : 1)
        let dividesRows = inner && images * bands >= threads
        let cost =
          Double(busiest) * Double(multiplyAdds * percent) / 100
          + (dividesRows ? weights : results)
        if cost < least {
          least = cost
          cut = candidate
        }
      }
    }
  }

  /// Cuts few units, because each splits its pixels and weights into parts. Measured: a pixel costs
  /// as much as 3 more blocks of outputs, a block as 43 more pixels.
  private mutating func cutForTiles(_ work: [Int], pixels: Int, _ threads: Int) {
    cut = Cut(bands: 1, groups: 1, panelsInner: true)
    if threads == 1 { return }
    var least = Int.max
    for bands in 1...min(length, 4 * threads) {
      for groups in 1...panels where images * bands * groups <= 4 * threads {
        let candidate = Cut(bands: bands, groups: groups, panelsInner: true)
        let longest = longestShare(candidate, threads) { unit in
          let (count, blocks) = (unit.rows.count * pixels, work[unit.panels].reduce(0, +))
          return (count + 31) / 32 * 32 * blocks + 3 * count + 43 * blocks
        }
        if longest < least { (least, cut) = (longest, candidate) }
      }
    }
  }

  /// The work of the busiest thread.
  private func longestShare(_ cut: Cut, _ threads: Int, _ work: (Unit) -> Int) -> Int {
    let count = images * cut.bands * cut.groups
    return (0..<threads).map { thread in
      ThreadPool.share(of: count, thread, threads).reduce(0) { $0 + work(unit($1, cut)) }
    }.max() ?? 0
  }

  /// What stays in the second-level cache.
  static let cacheBytes = 384 << 10

  subscript(index: Int) -> Unit { unit(index, cut) }

  private func unit(_ index: Int, _ cut: Cut) -> Unit {
    let (bands, groups) = (cut.bands, cut.groups)
    let image = index / (bands * groups)
    let rest = index % (bands * groups)
    let band = cut.panelsInner ? rest / groups : rest % bands
    let group = cut.panelsInner ? rest % groups : rest / bands
    return Unit(
      image: image, rows: ThreadPool.share(of: length, band, bands),
      panels: ThreadPool.share(of: panels, group, groups))
  }
}
