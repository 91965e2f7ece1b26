import CVector

/// Distances in floats from a pixel to its right neighbor, and from a row's first pixel to that of
/// the next row.
struct PixelStride {
  var column: Int
  var row = 0
}

/// Output pixels to divide into tiles, row by row.
struct PixelRows {
  var rows = 1
  var width: Int
  /// Distances between the inputs of neighboring output pixels.
  var input: PixelStride
  var output: PixelStride
  var residual = PixelStride(column: 0)

  var count: Int { rows &* width }
  /// The smallest possible number of tiles.
  var tiles: Int { (count &+ Table.pixelTile &- 1) / Table.pixelTile }
}

/// Whether a tile can contain pixels of several rows. The largest tiles have too many pixels for
/// the address registers, but they fit the rows of common feature maps.
@inline(__always)
var tilesCrossRows: Bool {
  #if KERNELS_AVX512
    false
  #else
    true
  #endif
}

/// Iterates over the locations of pixels.
struct TileWalk {
  fileprivate let pixels: PixelRows
  private var column = 0
  fileprivate var input = 0
  fileprivate var output = 0
  fileprivate var residual = 0

  init(_ pixels: PixelRows) { self.pixels = pixels }

  /// Returns the locations of a tile's pixels and advances past them.
  @inline(__always)
  mutating func next<let rows: Int>(_: Count<rows>) -> TileOffsets<rows> {
    #if KERNELS_AVX512
      let offsets = TileOffsets<rows>(self)
      input &+= rows &* pixels.input.column
      output &+= rows &* pixels.output.column
      residual &+= rows &* pixels.residual.column
      return offsets
    #else
      var offsets = TileOffsets<rows>(step: pixels.input.column)
      for r in 0..<rows {
        offsets.inputs[r] = input
        offsets.outputs[r] = output
        offsets.residuals[r] = residual
        column &+= 1
        // All bits set if another pixel of the row follows; a branch would be mispredicted at the
        // end of each row.
        let follows = (column &- pixels.width) &>> (Int.bitWidth &- 1)
        column &= follows
        input &+= step(pixels.input, follows)
        output &+= step(pixels.output, follows)
        residual &+= step(pixels.residual, follows)
      }
      return offsets
    #endif
  }

  @inline(__always)
  private func step(_ stride: PixelStride, _ follows: Int) -> Int {
    let toNextRow = stride.row &- (pixels.width &- 1) &* stride.column
    return toNextRow &+ (follows & (stride.column &- toNextRow))
  }
}

/// The locations of a tile's pixels, as offsets in floats from the very first pixel.
struct TileOffsets<let rows: Int> {
  #if KERNELS_AVX512
    private let first: TileWalk

    @inline(__always)
    fileprivate init(_ first: TileWalk) { self.first = first }

    /// The distance between the inputs of neighboring pixels.
    @inline(__always)
    fileprivate var step: Int { first.pixels.input.column }
    @inline(__always)
    fileprivate func input(_ r: Int) -> Int { first.input &+ r &* step }
    @inline(__always)
    func output(_ r: Int) -> Int { first.output &+ r &* first.pixels.output.column }
    @inline(__always)
    func residual(_ r: Int) -> Int { first.residual &+ r &* first.pixels.residual.column }
  #else
    /// The distance between the inputs of a pixel and its right neighbor.
    fileprivate let step: Int
    fileprivate var inputs = InlineArray<rows, Int>(repeating: 0)
    fileprivate var outputs = InlineArray<rows, Int>(repeating: 0)
    fileprivate var residuals = InlineArray<rows, Int>(repeating: 0)

    @inline(__always)
    fileprivate init(step: Int) { self.step = step }

    @inline(__always)
    fileprivate func input(_ r: Int) -> Int { inputs[r] }
    @inline(__always)
    func output(_ r: Int) -> Int { outputs[r] }
    @inline(__always)
    func residual(_ r: Int) -> Int { residuals[r] }
  #endif
}

/// The inputs of a tile's pixels, each with its own address register if there are enough.
struct TileInputs<let rows: Int> {
  private let step: Int
  #if KERNELS_AVX512
    private let first: UnsafePointer<Float>
  #else
    private var pixels: InlineArray<rows, UnsafePointer<Float>>
  #endif

  @inline(__always)
  init(_ input: UnsafePointer<Float>, _ offsets: TileOffsets<rows>) {
    step = offsets.step
    #if KERNELS_AVX512
      first = input + offsets.input(0)
    #else
      pixels = InlineArray(repeating: input)
      for r in 0..<rows { pixels[r] = input + offsets.input(r) }
    #endif
  }

  #if KERNELS_AVX512
    @inline(__always)
    func terms(from k: Int) -> TileTerms { TileTerms(first + k, step: step) }
  #else
    @inline(__always)
    func terms(from k: Int) -> TileTerms<rows> { TileTerms(pixels: pixels, first: k) }
  #endif

  /// Input `k` of pixel `r`.
  @inline(__always)
  func value(_ r: Int, _ k: Int) -> Float {
    #if KERNELS_AVX512
      first[k &+ r &* step]
    #else
      pixels[r][k]
    #endif
  }

  /// Prefetches input `k` of each pixel's counterpart in the tile to the right.
  @inline(__always)
  func fetchNext(_ r: Int, _ k: Int) {
    #if KERNELS_AVX512
      vector_prefetch_far(first + (k &+ (rows &+ r) &* step))
    #else
      vector_prefetch_far(pixels[r] + (k &+ rows &* step))
    #endif
  }
}

#if KERNELS_AVX512
  /// The inputs of up to 15 pixels, starting at some term: three addresses and four distances,
  /// which addressing modes add. The compiler would keep an address per pixel for the whole loop,
  /// mostly on the stack.
  struct TileTerms {
    private let first, second, third: UnsafePointer<Float>
    private let step, triple: Int

    @inline(__always)
    fileprivate init(_ pixels: UnsafePointer<Float>, step distance: Int) {
      step = vector_opaque(distance)
      triple = vector_opaque(3 &* step)
      first = vector_opaque_address(pixels)
      second = vector_opaque_address(first + 5 &* step)
      third = vector_opaque_address(second + 5 &* step)
    }

    /// Input `k` of pixel `r`.
    @inline(__always)
    func value(_ r: Int, _ k: Int) -> Float {
      let base = r < 5 ? first : r < 10 ? second : third
      let distance = r % 5 == 3 ? triple : r % 5 &* step
      return (base + distance)[k]
    }
  }
#else
  /// The inputs of a tile's pixels, starting at some term.
  struct TileTerms<let rows: Int> {
    fileprivate let pixels: InlineArray<rows, UnsafePointer<Float>>
    fileprivate let first: Int

    /// Input `k` of pixel `r`.
    @inline(__always)
    func value(_ r: Int, _ k: Int) -> Float { pixels[r][first &+ k] }
  }
#endif
