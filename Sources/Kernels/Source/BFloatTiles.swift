#if KERNELS_AVX512
  import CVector
  import KernelInterface
  import LibC

  /// Pixels and runs of terms whose parts are kept at a time: those of pixels in the L2 cache,
  /// those of a panel of weights in L1. The order of the sums depends only on the terms.
  private let mostPixels = 320
  private let mostRuns = 32
  private let pixelBytes = mostRuns / 2 * TILE_PARTS * 64
  private let panelBytes = mostRuns / 2 * TILE_PARTS * 2 * TILE_BYTES
  private let productBytes = 32 * 32 * 4

  /// Each thread keeps its buffer until it ends.
  private let memoryKey: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { free($0) }
    return key
  }()

  private func threadMemory() -> UnsafeMutableRawPointer? {
    if let memory = pthread_getspecific(memoryKey) { return memory }
    var memory: UnsafeMutableRawPointer?
    let size = mostPixels * pixelBytes + panelBytes + productBytes
    guard posix_memalign(&memory, 4096, size) == 0 else { return nil }
    pthread_setspecific(memoryKey, memory)
    return memory
  }

  /// Computes a convolution whose runs of inputs are whole vectors on tiles of bf16 parts. Without
  /// tiles or memory, does nothing and returns false.
  func multiplyTiles(_ a: ConvolutionArguments, _ source: TileInput) -> Bool {
    // `==` would share its witness table with kernels of other instruction sets.
    if case .none = a.tiles { return false }
    guard let memory = threadMemory() else { return false }
    let runs = source.runs &* source.run / lanes
    // The last step may have a single run.
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 2 &* runs &+ 2) { offsets in
      guard let inputs = offsets.baseAddress else { return }
      let weights = inputs + (runs &+ 1)
      var run = 0
      for block in 0..<source.blocks {
        for row in 0..<source.rows {
          for part in 0..<source.runsPerRow {
            let start =
              block &* source.blockStride &+ row &* source.rowStride &+ part &* source.runStride
            var k = 0
            while k < source.run {
              inputs[run] = start &+ k
              weights[run] = run &* lanes
              run &+= 1
              k &+= lanes
            }
          }
        }
      }
      (inputs[runs], weights[runs]) = (-1, -1)
      if case .processor = a.tiles { tile_begin() }
      TileProduct(a, inputs: inputs, weights: weights, runs: runs, memory: memory).run()
      if case .processor = a.tiles { tile_end() }
    }
    return true
  }

  private struct TileProduct {
    private let a: ConvolutionArguments
    private let inputs, weights: UnsafePointer<Int>
    private let runs: Int
    private let pixels: Int
    private let left, right: UnsafeMutableRawPointer
    private let products: UnsafeMutablePointer<Float>

    init(
      _ a: ConvolutionArguments, inputs: UnsafePointer<Int>, weights: UnsafePointer<Int>, runs: Int,
      memory: UnsafeMutableRawPointer
    ) {
      self.a = a
      self.inputs = inputs
      self.weights = weights
      self.runs = runs
      pixels = a.extent.rows &* a.extent.width
      left = memory
      right = memory + mostPixels * pixelBytes
      products = (right + panelBytes).assumingMemoryBound(to: Float.self)
    }

    /// The offset of a pixel in floats.
    @inline(__always)
    private func offset(_ pixel: Int, column: Int, row: Int) -> Int {
      pixel / a.extent.width &* row &+ pixel % a.extent.width &* column
    }

    @inline(__always)
    private func output(_ pixel: Int, _ block: Int) -> UnsafeMutablePointer<Float> {
      let strides = a.output.strides
      return a.output.base
        + (block &* strides.block &+ offset(pixel, column: strides.pixel, row: strides.row))
    }

    @inline(__always)
    private func residual(_ pixel: Int, _ block: Int) -> UnsafePointer<Float>? {
      let strides = a.epilogue.residualStrides
      return a.epilogue.residual.map {
        $0
          + (block &* strides.block
            &+ offset(pixel, column: a.output.strides.pixel, row: strides.row))
      }
    }

    func run() {
      let bands = (pixels &+ mostPixels &- 1) / mostPixels
      let steps = (runs &+ 1) / 2
      let chunks = (2 &* steps &+ mostRuns &- 1) / mostRuns
      for band in 0..<bands {
        let first = pixels &* band / bands
        let end = pixels &* (band &+ 1) / bands
        for chunk in 0..<chunks {
          let start = steps &* chunk / chunks &* 2
          multiply(first..<end, start..<min(runs, steps &* (chunk &+ 1) / chunks &* 2))
        }
      }
    }

    /// Adds the terms of some runs, for a band of pixels and all panels.
    private func multiply(_ band: Range<Int>, _ part: Range<Int>) {
      let steps = (part.count &+ 1) / 2
      let groupBytes = steps &* 2 &* TILE_PARTS &* TILE_BYTES
      var source = tile_source()
      source.steps = steps
      source.scale = 1
      source.offsets = inputs + part.lowerBound
      source.half = groupBytes / 2
      source.step_stride = TILE_PARTS * TILE_BYTES
      source.part_stride = TILE_BYTES
      let groups = (band.count &+ 31) / 32
      for group in 0..<groups {
        setRows(&source) { row in
          let pixel = min(band.lowerBound &+ group &* 32 &+ row, band.upperBound &- 1)
          return a.input.base
            + offset(
              pixel, column: a.window.strideX &* a.input.strides.pixel,
              row: a.window.strideY &* a.input.strides.row)
        }
        source.target = (left + group &* groupBytes).assumingMemoryBound(to: CChar.self)
        tile_split_left(&source)
      }
      source.offsets = weights + part.lowerBound
      source.half = TILE_BYTES
      source.step_stride = 2 * TILE_PARTS * TILE_BYTES
      source.part_stride = 2 * TILE_BYTES
      source.target = right.assumingMemoryBound(to: CChar.self)
      var block = 0
      while block < a.extent.blocks {
        let blocks = min(panelVectors, a.extent.blocks &- block)
        let panel = a.weights + block &* lanes &* runs &* lanes
        source.scale = blocks &* lanes
        setRows(&source) { row in
          panel + (row % 16 &* blocks &+ min(row / 16, blocks &- 1)) &* lanes
        }
        tile_split_right(&source)
        for group in 0..<groups {
          if case .processor = a.tiles {
            tile_multiply(left + group &* groupBytes, right, steps, products)
          } else {
            tile_multiply_emulated(left + group &* groupBytes, right, steps, products)
          }
          let first = band.lowerBound &+ group &* 32
          let some = first..<min(first &+ 32, band.upperBound)
          if blocks == 2 {
            finish(Count<2>(), some, part, block, panel)
          } else {
            finish(Count<1>(), some, part, block, panel)
          }
        }
        block &+= blocks
      }
    }

    @inline(__always)
    private func setRows(_ source: inout tile_source, _ row: (Int) -> UnsafePointer<Float>) {
      withUnsafeMutableBytes(of: &source.rows) {
        let rows = $0.assumingMemoryBound(to: UnsafePointer<Float>.self)
        for index in 0..<32 { rows[index] = row(index) }
      }
    }

    /// Adds the products of some pixels to the output of the previous runs; after the last run,
    /// applies the epilogue.
    @inline(__always)
    private func finish<let columns: Int>(
      _: Count<columns>, _ some: Range<Int>, _ part: Range<Int>, _ block: Int,
      _ panel: UnsafePointer<Float>
    ) {
      let isLast = part.upperBound == runs
      let channel = block &* lanes
      for pixel in some {
        let output = output(pixel, block)
        let residual = residual(pixel, block)
        let sums = products + (pixel &- some.lowerBound) &* 32
        var tile: Tile<1, columns> = zeros()
        var odd = Vector.zero
        for c in 0..<columns {
          var sum = load(sums + c &* lanes)
          if part.lowerBound > 0 {
            sum += load(output + c &* a.output.strides.block)
          } else if let bias = a.epilogue.bias {
            sum += load(bias + (channel &+ c &* lanes))
          }
          odd += sum - sum
          tile[0][c] = sum
        }
        if isLast {
          if !vector_are_zero(odd) {
            multiplyAdds(pixel, block, columns, panel)
            continue
          }
          if let residual {
            for c in 0..<columns {
              tile[0][c] += load(residual + c &* a.epilogue.residualStrides.block)
            }
          }
          activate(&tile, a.epilogue.activation, channel: channel)
        }
        for c in 0..<columns { store(tile[0][c], output + c &* a.output.strides.block) }
      }
    }

    /// Computes a pixel by multiply-adds if its sums are not finite or too large for parts.
    @inline(never)
    private func multiplyAdds(
      _ pixel: Int, _ block: Int, _ blocks: Int, _ panel: UnsafePointer<Float>
    ) {
      var one = a
      one.tiles = .none
      one.input.base =
        a.input.base
        + offset(
          pixel, column: a.window.strideX &* a.input.strides.pixel,
          row: a.window.strideY &* a.input.strides.row)
      one.weights = panel
      one.output.base = output(pixel, block)
      one.extent = Extent(blocks: blocks, rows: 1, width: 1)
      one.epilogue.bias = a.epilogue.bias.map { $0 + block &* lanes }
      one.epilogue.residual = residual(pixel, block)
      if case .prelu(let slopes) = a.epilogue.activation {
        one.epilogue.activation = .prelu(slopes + block &* lanes)
      }
      Table.convolution(one)
    }
  }
#endif
