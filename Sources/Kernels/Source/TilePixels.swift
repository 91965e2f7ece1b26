import CVector

/// Floats from a pixel to its right neighbor, and from a row's first pixel to the next row's.
struct PixelStride {
  var column: Int
  var row = 0
}

/// Output pixels that tiles are cut from, row after row.
struct PixelRows {
  var rows = 1
  var width: Int
  /// From what one output pixel reads to what the next one does.
  var input: PixelStride
  var output: PixelStride
  var residual = PixelStride(column: 0)

  var count: Int { rows &* width }
  /// As few as can be.
  var tiles: Int { (count &+ Table.pixelTile &- 1) / Table.pixelTile }
}

/// Whether a tile can hold pixels of several rows. Large tiles have more pixels than there are
/// registers for addresses; they are wide enough for the rows of usual maps.
var tilesCrossRows: Bool {
  @inline(__always) get {
    #if KERNELS_AVX512
      false
    #else
      true
    #endif
  }
}

/// The place of the next pixel.
struct TileWalk {
  fileprivate let pixels: PixelRows
  private var column = 0
  fileprivate var input = 0
  fileprivate var output = 0
  fileprivate var residual = 0

  init(_ pixels: PixelRows) { self.pixels = pixels }

  /// The places of a tile's pixels, and on to what follows them.
  @inline(__always)
  mutating func next<let rows: Int>(_: Count<rows>) -> TilePlaces<rows> {
    #if KERNELS_AVX512
      let places = TilePlaces<rows>(self)
      input &+= rows &* pixels.input.column
      output &+= rows &* pixels.output.column
      residual &+= rows &* pixels.residual.column
      return places
    #else
      var places = TilePlaces<rows>(step: pixels.input.column)
      for r in 0..<rows {
        places.inputs[r] = input
        places.outputs[r] = output
        places.residuals[r] = residual
        column &+= 1
        // All bits where a pixel of the row follows; a branch would be a surprise at each row's end.
        let follows = (column &- pixels.width) &>> (Int.bitWidth &- 1)
        column &= follows
        input &+= step(pixels.input, follows)
        output &+= step(pixels.output, follows)
        residual &+= step(pixels.residual, follows)
      }
      return places
    #endif
  }

  @inline(__always)
  private func step(_ stride: PixelStride, _ follows: Int) -> Int {
    let toNextRow = stride.row &- (pixels.width &- 1) &* stride.column
    return toNextRow &+ (follows & (stride.column &- toNextRow))
  }
}

/// Where a tile's pixels lie: floats from the first pixel of all.
struct TilePlaces<let rows: Int> {
  #if KERNELS_AVX512
    private let first: TileWalk

    @inline(__always)
    fileprivate init(_ first: TileWalk) { self.first = first }

    /// From what one pixel reads to what the next one does.
    fileprivate var step: Int {
      @inline(__always) get { first.pixels.input.column }
    }
    @inline(__always)
    fileprivate func input(_ r: Int) -> Int { first.input &+ r &* step }
    @inline(__always)
    func output(_ r: Int) -> Int { first.output &+ r &* first.pixels.output.column }
    @inline(__always)
    func residual(_ r: Int) -> Int { first.residual &+ r &* first.pixels.residual.column }
  #else
    /// From what one pixel reads to what its right neighbor does.
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

/// What a tile's pixels read, an address in a register for each if there are enough of them.
struct TileInputs<let rows: Int> {
  private let step: Int
  #if KERNELS_AVX512
    private let first: UnsafePointer<Float>
  #else
    private var pixels: InlineArray<rows, UnsafePointer<Float>>
  #endif

  @inline(__always)
  init(_ input: UnsafePointer<Float>, _ places: TilePlaces<rows>) {
    step = places.step
    #if KERNELS_AVX512
      first = input + places.input(0)
    #else
      pixels = InlineArray(repeating: input)
      for r in 0..<rows { pixels[r] = input + places.input(r) }
    #endif
  }

  /// Input `k` of pixel `r`.
  @inline(__always)
  func value(_ r: Int, _ k: Int) -> Float {
    #if KERNELS_AVX512
      (first + k)[r &* step]
    #else
      pixels[r][k]
    #endif
  }

  /// Asks for the same of the tile to the right.
  @inline(__always)
  func fetchNext(_ r: Int, _ k: Int) {
    #if KERNELS_AVX512
      vector_prefetch_far(first + (k &+ (rows &+ r) &* step))
    #else
      vector_prefetch_far(pixels[r] + (k &+ rows &* step))
    #endif
  }
}
