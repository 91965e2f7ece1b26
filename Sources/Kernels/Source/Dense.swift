import CVector
import KernelInterface

extension Table {
  /// The order of a row's sum is fixed: even and odd vectors separately, then the lanes of their
  /// sum by halves.
  @inline(never)
  package static func dense(_ a: DenseArguments) {
    if a.isReadInRegisters {
      denseRows(a, stage: nil)
    } else {
      withUnsafeTemporaryAllocation(of: Float.self, capacity: 4 &* stageColumns) {
        denseRows(a, stage: $0.baseAddress)
      }
    }
  }
}

extension DenseArguments {
  /// Whether 24-bit rows are read one after the other: memory delivers a single stream at full
  /// speed, but not four short ones side by side. The input of longer rows leaves the L1 cache, so
  /// four rows share it.
  fileprivate var isSingleStream: Bool {
    if case .fixed = weights.format { columns <= 2048 } else { false }
  }

  fileprivate var isReadInRegisters: Bool {
    switch weights.format {
    case .float32, .float16, .linear(8, _, _), .fixed: true
    case .linear(let bits, _, _), .table(let bits, _):
      #if KERNELS_AVX512 || KERNELS_AVX2
        // Rows start at byte boundaries.
        bits < 8 && 8 % bits == 0 && weights.first &* bits & 7 == 0
          && weights.stride &* bits & 7 == 0
      #else
        false
      #endif
    }
  }
}

/// Number of columns that are expanded at a time for some rows, so that they stay in the L1 cache.
/// A multiple of two vectors, which keeps the order of the sums.
@inline(__always)
private var stageColumns: Int { 1024 }

private func denseRows(_ a: DenseArguments, stage: UnsafeMutablePointer<Float>?) {
  let isSingle = a.isSingleStream
  var row = 0
  while row < a.rows {
    let four = row &+ 4 <= a.rows && !isSingle
    var n = 0
    while n < a.batch {
      let tile = DenseTile(row: row, vector: n)
      switch (four, n &+ 2 <= a.batch) {
      case (true, true): denseTile(Count<4>(), Count<2>(), a, tile, stage)
      case (true, false): denseTile(Count<4>(), Count<1>(), a, tile, stage)
      case (false, true): denseTile(Count<1>(), Count<2>(), a, tile, stage)
      case (false, false): denseTile(Count<1>(), Count<1>(), a, tile, stage)
      }
      n &+= n &+ 2 <= a.batch ? 2 : 1
    }
    row &+= four ? 4 : 1
  }
}

/// The first row of weights and the first input vector of some that are multiplied together.
private struct DenseTile {
  var row: Int
  var vector: Int
}

@inline(__always)
private func denseTile<let rows: Int, let vectors: Int>(
  _: Count<rows>, _: Count<vectors>, _ a: DenseArguments, _ tile: DenseTile,
  _ stage: UnsafeMutablePointer<Float>?
) {
  let row = tile.row
  let x = a.vectors(from: tile.vector)
  var sums = RowSums<rows, vectors>()
  let first = a.weights.first &+ row &* a.weights.stride
  let all = 0..<a.columns
  switch a.weights.format {
  case .float32:
    let w = a.weights.base + first &* 4
    sums.add(x, all) { r, k in
      (w + (r &* a.weights.stride &+ k) &* 4).loadUnaligned(as: Vector.self)
    } tail: { r, k, count in
      load(w + (r &* a.weights.stride &+ k) &* 4, count: count)
    }
  case .float16:
    let w = a.weights.base + first &* 2
    sums.add(x, all) { r, k in
      loadHalf(w + (r &* a.weights.stride &+ k) &* 2)
    } tail: { r, k, count in
      loadHalf(w + (r &* a.weights.stride &+ k) &* 2, count: count)
    }
  case .linear(8, let scales, let biases):
    let w = a.weights.base + first
    var scale = InlineArray<rows, Vector>(repeating: .zero)
    var bias = scale
    for r in 0..<rows {
      scale[r] = splat(scales[row &+ r])
      bias[r] = splat(biases[row &+ r])
    }
    sums.add(x, all) { r, k in
      a.fetchAhead(first &+ r &* a.weights.stride, bits: 8, rows: rows, column: k)
    } whole: { r, k in
      let codes = (w + (r &* a.weights.stride &+ k)).loadUnaligned(as: vector_bytes.self)
      return vector_scale(vector_from_bytes(codes), scale[r], bias[r])
    } tail: { r, k, count in
      let codes = loadBytes(w + (r &* a.weights.stride &+ k), count: count)
      return keep(count, of: vector_scale(vector_from_bytes(codes), scale[r], bias[r]))
    }
  case .fixed(let scales):
    let w = a.weights.base + first &* FixedRow.bytesPerColumn
    var scale = InlineArray<rows, Vector>(repeating: .zero)
    for r in 0..<rows { scale[r] = splat(scales[row &+ r]) }
    sums.addFixed(a, x, w, scale)
  case .linear, .table:
    guard let stage else {
      #if KERNELS_AVX512 || KERNELS_AVX2
        switch a.codeBits {
        case 1: sums.add(Count<1>(), a, tile)
        case 2: sums.add(Count<2>(), a, tile)
        default: sums.add(Count<4>(), a, tile)
        }
      #endif
      break
    }
    var k = 0
    while k < a.columns {
      let columns = k..<min(k &+ stageColumns, a.columns)
      if case .table(8, let table) = a.weights.format {
        expandBytes(
          ByteRows(base: a.weights.base + (first &+ k), count: rows, stride: a.weights.stride),
          count: columns.count, table, to: stage, outputStride: stageColumns)
      } else {
        for r in 0..<rows {
          guard let format = a.compressedFormat(row: row &+ r) else { break }
          Table.expandWeights(
            ExpansionArguments(
              source: a.weights.base, format: format,
              first: first &+ r &* a.weights.stride &+ k, count: columns.count,
              output: stage + r &* stageColumns))
        }
      }
      let w = UnsafePointer(stage) - k
      let bits = a.codeBits
      sums.add(x, columns) { r, k in
        a.fetchAhead(first &+ r &* a.weights.stride, bits: bits, rows: rows, column: k)
      } whole: { r, k in
        load(w + (r &* stageColumns &+ k))
      } tail: { r, k, count in
        load(UnsafeRawPointer(w + (r &* stageColumns &+ k)), count: count)
      }
      k = columns.upperBound
    }
  }
  sums.finish(a, tile)
}

extension DenseArguments {
  @inline(__always)
  fileprivate func vectors(from first: Int) -> InputView {
    InputView(input.base + first &* input.strides.row, input.strides)
  }

  @inline(__always)
  fileprivate var codeBits: Int {
    switch weights.format {
    case .linear(let bits, _, _), .table(let bits, _): bits
    case .float32: 32
    case .float16: 16
    case .fixed: 8 &* FixedRow.bytesPerColumn
    }
  }

  /// Prefetches ahead of column `k` of one of the rows that are summed together: from that row or,
  /// near its end, from its counterpart in the next group.
  @inline(__always)
  fileprivate func fetchAhead(_ row: Int, bits: Int, rows: Int, column k: Int) {
    let distance = 2048 &* 8 / bits
    let rest = columns &- distance
    let ahead = k < rest ? k &+ distance : k &- rest &+ rows &* weights.stride
    vector_prefetch(weights.base + ((row &+ ahead) &* bits) &>> 3)
  }

  /// The format from which to expand a row; nil if it is not compressed.
  @inline(__always)
  fileprivate func compressedFormat(row: Int) -> CompressedFormat? {
    switch weights.format {
    case .float16: .half
    case .linear(let bits, let scale, let bias):
      .linear(bits: bits, scale: scale[row], bias: bias[row])
    case .table(let bits, let table): .table(bits: bits, table)
    case .float32, .fixed: nil
    }
  }
}

/// The partial sums of `rows` rows for `vectors` input vectors.
private struct RowSums<let rows: Int, let vectors: Int> {
  private var even: Tile<rows, vectors> = zeros()
  private var odd: Tile<rows, vectors> = zeros()

  @inline(__always)
  init() {}

  /// - Parameters:
  ///   - fetch: prefetches for a row, given the column.
  ///   - whole: loads a vector of a row's weights, starting at a column.
  ///   - tail: the same for fewer columns, with zeros in the other lanes.
  @inline(__always)
  mutating func add(
    _ x: InputView, _ range: Range<Int>, whole: (Int, Int) -> Vector,
    tail: (Int, Int, Int) -> Vector
  ) {
    add(x, range, fetch: { _, _ in }, whole: whole, tail: tail)
  }

  @inline(__always)
  mutating func add(
    _ input: InputView, _ range: Range<Int>, fetch: (Int, Int) -> Void,
    whole: (Int, Int) -> Vector, tail: (Int, Int, Int) -> Vector
  ) {
    let x = input.base
    let inputStride = input.strides.row
    var k = range.lowerBound
    while k &+ 2 &* lanes <= range.upperBound {
      var x0 = InlineArray<vectors, Vector>(repeating: .zero)
      var x1 = x0
      for v in 0..<vectors {
        x0[v] = load(x + (v &* inputStride &+ k))
        x1[v] = load(x + (v &* inputStride &+ k &+ lanes))
      }
      for r in 0..<rows {
        fetch(r, k)
        let w0 = whole(r, k)
        let w1 = whole(r, k &+ lanes)
        for v in 0..<vectors {
          even[r][v] = multiplyAdd(w0, x0[v], even[r][v])
          odd[r][v] = multiplyAdd(w1, x1[v], odd[r][v])
        }
      }
      k &+= 2 &* lanes
    }
    while k < range.upperBound {
      let count = min(lanes, range.upperBound &- k)
      for r in 0..<rows {
        let value = tail(r, k, count)
        for v in 0..<vectors {
          let input = load(x + (v &* inputStride &+ k), count: count)
          even[r][v] = multiplyAdd(value, input, even[r][v])
        }
      }
      k &+= lanes
    }
  }

  /// Adds rows of codes starting at `w`, block by block, like `add` of the floats that they encode.
  @inline(__always)
  mutating func addFixed(
    _ a: DenseArguments, _ x: InputView, _ w: UnsafeRawPointer, _ scale: InlineArray<rows, Vector>
  ) {
    let rowBytes = a.weights.stride &* FixedRow.bytesPerColumn
    let block = FixedRow.blockColumns
    // Prefetches lines at the same distance ahead in all rows; near their ends, in the next rows.
    // The processor prefetches a single row by itself.
    let distance = 11 &* block &* FixedRow.bytesPerColumn
    var first = 0
    while first &+ block <= a.columns {
      let start = w + first &* FixedRow.bytesPerColumn
      if rows > 1 {
        let ahead =
          first &* FixedRow.bytesPerColumn &+ distance < rowBytes
          ? distance : distance &+ (rows &- 1) &* rowBytes
        for r in 0..<rows {
          let lines = start + (r &* rowBytes &+ ahead)
          vector_prefetch(lines)
          vector_prefetch(lines + block)
          vector_prefetch(lines + 2 &* block)
        }
      }
      add(x, first..<first &+ block) { r, k in
        loadFixed(start + r &* rowBytes, k &- first) * scale[r]
      } tail: { _, _, _ in
        .zero
      }
      first &+= block
    }
    add(x, first..<a.columns) { r, k in
      loadFixed(w + r &* rowBytes, k) * scale[r]
    } tail: { r, k, _ in
      loadFixed(w + r &* rowBytes, k) * scale[r]
    }
  }

  @inline(__always)
  func finish(_ a: DenseArguments, _ tile: DenseTile) {
    let (row, vector) = (tile.row, tile.vector)
    for r in 0..<rows {
      let bias = a.epilogue.bias?[row &+ r] ?? 0
      for v in 0..<vectors {
        let sum = laneSum(even[r][v] + odd[r][v]) + bias
        a.output.base[(vector &+ v) &* a.output.strides.row &+ row &+ r] = activate(
          sum, a.epilogue.activation, channel: row &+ r)
      }
    }
  }
}

#if KERNELS_AVX512 || KERNELS_AVX2
  extension RowSums {
    /// Expands codes of 1, 2 or 4 bits by a table in registers, which also serves linear codes.
    @inline(__always)
    fileprivate mutating func add<let bits: Int>(
      _: Count<bits>, _ a: DenseArguments, _ tile: DenseTile
    ) {
      let row = tile.row
      let width = Int32(truncatingIfNeeded: bits)
      let codes = IntegerVector.laneNumbers
      var low = InlineArray<rows, Vector>(repeating: .zero)
      var high = low
      for r in 0..<rows {
        switch a.weights.format {
        case .linear(_, let scales, let biases):
          let (scale, bias) = (splat(scales[row &+ r]), splat(biases[row &+ r]))
          low[r] = vector_scale(codes & splat((1 &<< width) &- 1), scale, bias)
          high[r] = vector_scale(codes &+ splat(8), scale, bias)
        case .table(_, let table):
          withUnsafeTemporaryAllocation(of: Float.self, capacity: 16) { values in
            for code in 0..<16 { values[code] = table[code & ((1 &<< bits) &- 1)] }
            guard let base = values.baseAddress else { return }
            low[r] = load(base)
            high[r] = load(base + (16 &- lanes))
          }
        case .float32, .float16, .fixed: break
        }
      }
      let first = a.weights.first &+ row &* a.weights.stride
      let w = a.weights.base + (first &* bits) &>> 3
      let rowBytes = (a.weights.stride &* bits) &>> 3
      add(a.vectors(from: tile.vector), 0..<a.columns) { r, k in
        a.fetchAhead(first &+ r &* a.weights.stride, bits: bits, rows: rows, column: k)
      } whole: { r, k in
        vector_look_up_loose(
          vector_loose_codes(w + (r &* rowBytes &+ (k &* bits) &>> 3), width), width, low[r],
          high[r])
      } tail: { r, k, count in
        let bytes = loadBytes(
          w + (r &* rowBytes &+ (k &* bits) &>> 3), count: (count &* bits &+ 7) &>> 3)
        let value = withUnsafeBytes(of: bytes) { bytes in
          bytes.baseAddress.map {
            vector_look_up_loose(vector_loose_codes($0, width), width, low[r], high[r])
          } ?? .zero
        }
        return keep(count, of: value)
      }
    }
  }

  extension IntegerVector {
    /// 0, 1, 2, …
    @inline(__always)
    fileprivate static var laneNumbers: IntegerVector {
      var numbers = IntegerVector.zero
      for lane in 0..<lanes { numbers[lane] = Int32(truncatingIfNeeded: lane) }
      return numbers
    }
  }
#endif

/// The first `count` lanes, with zeros in the others.
@inline(__always)
private func keep(_ count: Int, of value: Vector) -> Vector {
  withUnsafeBytes(of: value) { bytes in
    bytes.baseAddress.map { load($0, count: count) } ?? .zero
  }
}

/// The first `count` bytes, followed by zeros; reads nothing else.
@inline(__always)
private func loadBytes(_ address: UnsafeRawPointer, count: Int) -> vector_bytes {
  var value = vector_bytes.zero
  withUnsafeMutableBytes(of: &value) { bytes in
    if let base = bytes.baseAddress { base.copyMemory(from: address, byteCount: count) }
  }
  return value
}
