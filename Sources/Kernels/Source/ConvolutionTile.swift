import CVector
import KernelInterface

/// Sums for `rows` pixels and `columns` vectors of output channels, few enough for registers.
typealias Tile<let rows: Int, let columns: Int> = InlineArray<rows, InlineArray<columns, Vector>>

/// Zeros in registers: `init(repeating:)` with an array is not inlined everywhere, and an array
/// whose address is passed stays in memory.
@inline(__always)
func zeros<let rows: Int, let columns: Int>() -> Tile<rows, columns> {
  InlineArray { _ in InlineArray(repeating: .zero) }
}

/// How a tile adds terms, and what it does with their sums.
protocol TileArithmetic {
  static func add(_ input: Vector, _ weights: Vector, to sum: Vector) -> Vector
  static func finish<let rows: Int, let columns: Int>(
    _ tile: inout Tile<rows, columns>, _ task: TileTask, _ input: TileInputs<rows>)
}

/// How a tile is computed: vectors per pixel, terms per iteration and arithmetic.
struct TileForm<let columns: Int, let steps: Int, Terms: TileArithmetic> {}

enum FloatTerms: TileArithmetic {
  /// Terms per iteration if run lengths are multiples of it: the exit from a short loop would be
  /// mispredicted.
  #if KERNELS_AVX512 || KERNELS_AVX2
    static let unrolled = 8
    typealias Panel = TileForm<2, 8, FloatTerms>
  #else
    static let unrolled = 1
    typealias Panel = TileForm<2, 1, FloatTerms>
  #endif

  @inline(__always)
  static func add(_ input: Vector, _ weights: Vector, to sum: Vector) -> Vector {
    multiplyAdd(input, weights, sum)
  }

  @inline(__always)
  static func finish<let rows: Int, let columns: Int>(
    _: inout Tile<rows, columns>, _: TileTask, _: TileInputs<rows>
  ) {}
}

/// Terms of a tile's sums: `count` adjacent inputs from the `first` on, and their weights.
struct TileRun {
  var first: Int
  var count: Int
  var weights: UnsafePointer<Float>
}

/// `tile[r][c] += Σ(k < count) input[pixels[r] + first + k] · weights[k][c]`
///
/// The inner loop of convolutions, matrix products and everything based on them.
///
/// - Parameters:
///   - run: a multiple of `steps`, the terms that are added between two jumps.
///   - ahead: what to prefetch for every `steps` terms; for all of them if `steps` is 1.
@inline(__always)
func accumulate<let rows: Int, let columns: Int, let steps: Int, Terms: TileArithmetic>(
  _: TileForm<columns, steps, Terms>, _ tile: inout Tile<rows, columns>, input: TileInputs<rows>,
  _ run: TileRun, ahead: inout TileAhead
) {
  if steps == 1 { ahead.fetchPart() }
  var k = run.first
  var w = run.weights
  let end = run.first &+ run.count
  while k < end {
    let terms = input.terms(from: k)
    if steps > 1 { ahead.fetchPart() }
    for step in 0..<steps {
      if steps > 1 { vector_keep_order() }
      var column = InlineArray<columns, Vector>(repeating: .zero)
      for c in 0..<columns { column[c] = load(w + (step &* columns &+ c) &* lanes) }
      prefetchWeights(w + step &* columns &* lanes, columns: columns)
      for r in 0..<rows {
        let value = splat(terms.value(r, step))
        for c in 0..<columns { tile[r][c] = Terms.add(value, column[c], to: tile[r][c]) }
      }
    }
    k &+= steps
    w += steps &* columns &* lanes
  }
}

/// Prefetches weights several steps ahead: each tile streams them from the L2 cache or beyond.
@inline(__always)
private func prefetchWeights(_ weights: UnsafePointer<Float>, columns: Int) {
  let ahead = weights + 48 &* columns &* lanes
  var line = 0
  while line < columns &* lanes {
    vector_prefetch(ahead + line)
    line &+= 16
  }
}

/// Sums in parts: the rounding error of n terms summed in sequence grows with √n, so short parts
/// keep it small.
private struct PartialSums<let rows: Int, let columns: Int> {
  private var total: Tile<rows, columns> = zeros()
  private var isEmpty = true
  private let capacity: Int
  private var room: Int

  /// - Parameter run: the number of terms added at a time; a part has at least that many.
  init(partLength: Int, run: Int) {
    capacity = max(partLength, run)
    room = capacity
  }

  /// Must be called before `terms` more terms are added to `tile`: if the part is full, moves its
  /// sum to the total.
  @inline(__always)
  mutating func makeRoom(_ tile: inout Tile<rows, columns>, for terms: Int) {
    room &-= terms
    if room >= 0 { return }
    move(&tile)
    room = capacity &- terms
  }

  @inline(__always)
  private mutating func move(_ tile: inout Tile<rows, columns>) {
    for r in 0..<rows {
      for c in 0..<columns {
        total[r][c] += tile[r][c]
        tile[r][c] = .zero
      }
    }
    isEmpty = false
  }

  @inline(__always)
  func finish(_ tile: inout Tile<rows, columns>) {
    if isEmpty { return }
    for r in 0..<rows { for c in 0..<columns { tile[r][c] += total[r][c] } }
  }
}

/// Layout of the inputs that a tile sums.
struct TileInput {
  /// Number of adjacent inputs that are summed in one loop.
  var run: Int
  var runsPerRow: Int
  var runStride: Int
  var rows: Int
  var rowStride: Int
  var blocks: Int
  var blockStride: Int
  /// Number of terms in a part of a sum; smallest for Winograd's algorithm, which amplifies
  /// rounding errors.
  var partLength = 32
  /// Terms added between two parts of weights to prefetch.
  var unrolled = FloatTerms.unrolled
  /// Whether to prefetch the input of the tile to the right, which is far away in memory.
  var fetchesNext = false

  var runs: Int { blocks &* rows &* runsPerRow }
}

/// Layout of a tile's results.
struct TileOutput {
  var vectorStride: Int
  var residualVectorStride: Int
  var accumulates: Bool
}

/// Prefetches the memory that the end of a tile reads or overwrites.
@inline(__always)
private func fetchTargets<let rows: Int, let columns: Int>(
  _: Count<columns>, _ offsets: TileOffsets<rows>, output: UnsafeMutablePointer<Float>,
  target: TileOutput, residual: UnsafePointer<Float>?
) {
  // Narrower vectors are stored slowly enough without prefetching.
  #if KERNELS_AVX512
    for r in 0..<rows {
      for c in 0..<columns {
        vector_prefetch(output + (offsets.output(r) &+ c &* target.vectorStride))
      }
    }
  #endif
  guard let residual else { return }
  for r in 0..<rows where r % blocksPerLine == 0 {
    for c in 0..<columns {
      vector_prefetch(residual + (offsets.residual(r) &+ c &* target.residualVectorStride))
    }
  }
}

/// Channel blocks of neighboring pixels in a cache line.
@inline(__always)
private var blocksPerLine: Int { lineFloats / channelBlock }

/// The arguments that all tiles of a run of pixels share. `channel` is the first output channel.
struct TileTask {
  var input: UnsafePointer<Float>
  var source: TileInput
  var weights: UnsafePointer<Float>
  /// What sums start with.
  var bias: UnsafePointer<Float>?
  var bytes: ByteSums?
  var output: UnsafeMutablePointer<Float>
  var target: TileOutput
  var residual: UnsafePointer<Float>?
  var channel = 0
  var epilogue = Epilogue()
}

/// Computes one tile: initializes it, sums, applies the epilogue and stores the result.
@inline(__always)
func computeTile<let rows: Int, let columns: Int, let steps: Int, Terms: TileArithmetic>(
  _ form: TileForm<columns, steps, Terms>, _ task: TileTask, _ offsets: TileOffsets<rows>,
  ahead: TileAhead
) {
  let source = task.source
  let target = task.target
  let output = task.output
  var tile: Tile<rows, columns> = zeros()
  if target.accumulates {
    for r in 0..<rows {
      for c in 0..<columns {
        tile[r][c] = load(output + (offsets.output(r) &+ c &* target.vectorStride))
      }
    }
  } else if let bias = task.bias {
    for c in 0..<columns {
      let value = load(bias + (task.channel &+ c &* lanes))
      for r in 0..<rows { tile[r][c] = value }
    }
  }

  fetchTargets(Count<columns>(), offsets, output: output, target: target, residual: task.residual)
  var sums = PartialSums<rows, columns>(partLength: source.partLength, run: source.run)
  let input = TileInputs(task.input, offsets)
  var ahead = ahead
  var run = TileRun(first: 0, count: source.run, weights: task.weights)
  var runsLeft = source.runsPerRow
  var rowsLeft = source.rows
  let toNextRow = source.rowStride &- (source.runsPerRow &- 1) &* source.runStride
  let toNextBlock =
    source.blockStride &- (source.rows &- 1) &* source.rowStride
    &- (source.runsPerRow &- 1) &* source.runStride
  var left = source.runs
  while left > 0 {
    if source.fetchesNext {
      for r in 0..<rows where r % blocksPerLine == 0 { input.fetchNext(r, run.first) }
    }
    sums.makeRoom(&tile, for: source.run)
    accumulate(form, &tile, input: input, run, ahead: &ahead)
    run.weights += source.run &* (columns &* lanes)
    left &-= 1
    runsLeft &-= 1
    if runsLeft > 0 {
      run.first &+= source.runStride
      continue
    }
    runsLeft = source.runsPerRow
    rowsLeft &-= 1
    run.first &+= rowsLeft > 0 ? toNextRow : toNextBlock
    if rowsLeft == 0 { rowsLeft = source.rows }
  }

  sums.finish(&tile)
  Terms.finish(&tile, task, input)

  if let residual = task.residual {
    for r in 0..<rows {
      for c in 0..<columns {
        tile[r][c] += load(residual + (offsets.residual(r) &+ c &* target.residualVectorStride))
      }
    }
  }
  activate(&tile, task.epilogue.activation, channel: task.channel)
  for r in 0..<rows {
    for c in 0..<columns {
      store(tile[r][c], output + (offsets.output(r) &+ c &* target.vectorStride))
    }
  }
}
