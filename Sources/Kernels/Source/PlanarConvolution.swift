import KernelInterface

#if KERNELS_AVX512 || arch(arm64)
  private typealias FewOutputVectors = Count<6>
#else
  private typealias FewOutputVectors = Count<4>
#endif

extension Table {
  @inline(never)
  package static func planarConvolution(_ a: ConvolutionArguments) {
    let group = planarGroup(a.extent.blocks)
    let groupWeights = a.inputBlocks &* a.window.taps &* group
    var y = 0
    while y < a.extent.rows {
      var channel = 0
      var weights = a.weights
      while channel < a.extent.blocks {
        let part = PlanarPart(channel: channel, weights: weights)
        switch group {
        case 1: planarRow(Count<1>(), FewOutputVectors(), a, part, y)
        case 2: planarRow(Count<2>(), FewOutputVectors(), a, part, y)
        case 3: planarRow(Count<3>(), FewOutputVectors(), a, part, y)
        #if KERNELS_AVX512 || arch(arm64)
          case 4: planarRow(Count<4>(), FewOutputVectors(), a, part, y)
          case 5: planarRow(Count<5>(), Count<4>(), a, part, y)
          case 6: planarRow(Count<6>(), Count<4>(), a, part, y)
        #endif
        default: break
        }
        channel &+= group
        weights += groupWeights
      }
      y &+= 1
    }
  }
}

/// Channels that are computed together, from the first on.
struct PlanarPart {
  var channel: Int
  var weights: UnsafePointer<Float>
}

/// The output channels of a tile, and its first pixel.
struct PlanarTile<let outputs: Int> {
  let part: PlanarPart
  let bias: InlineArray<outputs, Float>
  var row = 0
  var column = 0
}

@inline(never)
private func planarRow<let outputs: Int, let columns: Int>(
  _: Count<outputs>, _ vectors: Count<columns>, _ a: ConvolutionArguments, _ part: PlanarPart,
  _ row: Int
) {
  var tile = PlanarTile<outputs>(part: part, bias: planarBias(a, part.channel), row: row)
  let wide = columns &* lanes
  while tile.column &+ wide <= a.extent.width {
    planarTile(vectors, a, tile)
    tile.column &+= wide
  }
  while tile.column &+ 2 &* lanes <= a.extent.width {
    planarTile(Count<2>(), a, tile)
    tile.column &+= 2 &* lanes
  }
  while tile.column &+ lanes <= a.extent.width {
    planarTile(Count<1>(), a, tile)
    tile.column &+= lanes
  }
  let rest = a.extent.width &- tile.column
  if rest > 0 { planarTile(Count<1>(), a, tile, used: rest) }
}

/// The bias of `outputs` channels; zero beyond the last channel.
@inline(__always)
func planarBias<let outputs: Int>(
  _ a: ConvolutionArguments, _ channel: Int
) -> InlineArray<outputs, Float> {
  var bias = InlineArray<outputs, Float>(repeating: 0)
  guard let values = a.epilogue.bias else { return bias }
  for o in 0..<outputs where channel &+ o < a.extent.blocks { bias[o] = values[channel &+ o] }
  return bias
}

/// Computes `outputs` channels of `columns` vectors of pixels or, with `used`, the last pixels of the
/// row, fewer than a vector has lanes.
@inline(__always)
private func planarTile<let outputs: Int, let columns: Int>(
  _: Count<columns>, _ a: ConvolutionArguments, _ tile: PlanarTile<outputs>, used: Int? = nil
) {
  let (row, column, channel) = (tile.row, tile.column, tile.part.channel)
  var sums: Tile<outputs, columns> = zeros()
  for o in 0..<outputs {
    let start = splat(tile.bias[o])
    for c in 0..<columns { sums[o][c] = start }
  }
  var w = tile.part.weights
  var plane = a.input.base + (row &* a.input.strides.row &+ column)
  for _ in 0..<a.inputBlocks {
    var line = plane
    for _ in 0..<a.window.height {
      var x = line
      for _ in 0..<a.window.width {
        var weight = InlineArray<outputs, Vector>(repeating: .zero)
        for o in 0..<outputs { weight[o] = splat(w[o]) }
        for c in 0..<columns {
          let pixels = read(x + c &* lanes, used: used)
          for o in 0..<outputs { sums[o][c] = multiplyAdd(weight[o], pixels, sums[o][c]) }
        }
        w += outputs
        x += a.window.dilationX
      }
      line += a.window.dilationY &* a.input.strides.row
    }
    plane += a.input.strides.block
  }
  let target = a.output.base + (row &* a.output.strides.row &+ column)
  for o in 0..<outputs where channel &+ o < a.extent.blocks {
    let line = target + (channel &+ o) &* a.output.strides.block
    for c in 0..<columns { write(sums[o][c], line + c &* lanes, used: used) }
  }
}
