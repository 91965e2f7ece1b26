import KernelInterface

/// Number of rows of `b` that are packed at a time.
private var depthBlock: Int {
  @inline(__always) get { 256 }
}

extension Table {
  /// See `MatrixProductArguments`. Strips of `b` are packed into a panel and computed by the
  /// convolution's tile.
  @inline(never)
  package static func matrixProduct(_ a: MatrixProductArguments) {
    let width = panelVectors &* lanes
    let panelBytes = depthBlock &* width &* 4
    // After the panel: a strip for results if the last columns do not fill vectors.
    let stripBytes = Table.pixelTile &* width &* 4
    withUnsafeTemporaryAllocation(byteCount: panelBytes + stripBytes, alignment: 64) {
      scratch in
      guard let base = scratch.baseAddress else { return }
      let panel = base.assumingMemoryBound(to: Float.self)
      let strip = (base + panelBytes).assumingMemoryBound(to: Float.self)
      var column = 0
      while column < a.columns {
        let columns = min(width, a.columns &- column)
        var depth = 0
        repeat {
          let count = min(depthBlock, a.depth &- depth)
          packStrip(
            a.b + (depth &* a.bStride &+ column), stride: a.bStride, rows: count, columns: columns,
            width: width, panel)
          multiplyStrip(
            a, column: column, columns: columns, depth: depth, count: count, panel: panel,
            strip: strip)
          depth &+= count
        } while depth < a.depth
        column &+= columns
      }
    }
  }
}

@inline(__always)
private func packStrip(
  _ source: UnsafePointer<Float>, stride: Int, rows: Int, columns: Int, width: Int,
  _ panel: UnsafeMutablePointer<Float>
) {
  var k = 0
  while k < rows {
    let row = source + k &* stride
    let target = panel + k &* width
    if columns == width {
      for c in 0..<panelVectors { store(load(row + c &* lanes), target + c &* lanes) }
    } else {
      var c = 0
      while c < width {
        target[c] = c < columns ? row[c] : 0
        c &+= 1
      }
    }
    k &+= 1
  }
}

/// Adds `count` products to every element of the strip of columns.
@inline(__always)
private func multiplyStrip(
  _ a: MatrixProductArguments, column: Int, columns: Int, depth: Int, count: Int,
  panel: UnsafePointer<Float>, strip: UnsafeMutablePointer<Float>
) {
  let width = panelVectors &* lanes
  let source = TileInput(
    run: count, runsPerRow: 1, runStride: 0, rows: 1, rowStride: 0, blocks: 1,
    blockStride: 0)
  let whole = columns == width
  var row = 0
  while row < a.rows {
    let rows = min(Table.pixelTile, a.rows &- row)
    let c = a.c + (row &* a.cStride &+ column)
    let output = whole ? c : strip
    let outputStride = whole ? a.cStride : width
    prepare(a, row: row, rows: rows, column: column, columns: columns, depth: depth, strip: strip)
    var ahead = TilesAhead.none
    computeTiles(
      PixelRows(
        width: rows, input: PixelStride(column: a.aStride),
        output: PixelStride(column: outputStride)), vectors: panelVectors,
      TileTask(
        input: a.a + (row &* a.aStride &+ depth), source: source, weights: panel, output: output,
        target: TileOutput(vectorStride: lanes, residualVectorStride: 0, accumulates: true)),
      ahead: &ahead)
    if !whole {
      var r = 0
      while r < rows {
        var x = 0
        while x < columns {
          c[r &* a.cStride &+ x] = output[r &* outputStride &+ x]
          x &+= 1
        }
        r &+= 1
      }
    }
    row &+= rows
  }
}

/// Puts the initial values of the sums where the tile expects them: first the biases, later the
/// intermediate results.
@inline(__always)
private func prepare(
  _ a: MatrixProductArguments, row: Int, rows: Int, column: Int, columns: Int, depth: Int,
  strip: UnsafeMutablePointer<Float>
) {
  let width = panelVectors &* lanes
  var r = 0
  while r < rows {
    let c = a.c + ((row &+ r) &* a.cStride &+ column)
    if columns < width {
      var x = 0
      while x < width {
        strip[r &* width &+ x] =
          depth > 0 ? c[min(x, columns &- 1)] : a.columnBias?[column &+ min(x, columns &- 1)] ?? 0
        x &+= 1
      }
    } else if depth == 0 {
      for x in 0..<panelVectors {
        store(a.columnBias.map { load($0 + (column &+ x &* lanes)) } ?? .zero, c + x &* lanes)
      }
    }
    r &+= 1
  }
}
