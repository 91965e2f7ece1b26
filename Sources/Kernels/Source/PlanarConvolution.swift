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
        switch group {
        case 1: planarRow(Count<1>(), FewOutputVectors(), a, y, channel, weights)
        case 2: planarRow(Count<2>(), FewOutputVectors(), a, y, channel, weights)
        case 3: planarRow(Count<3>(), FewOutputVectors(), a, y, channel, weights)
        #if KERNELS_AVX512 || arch(arm64)
          case 4: planarRow(Count<4>(), FewOutputVectors(), a, y, channel, weights)
          case 5: planarRow(Count<5>(), Count<4>(), a, y, channel, weights)
          case 6: planarRow(Count<6>(), Count<4>(), a, y, channel, weights)
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

@inline(never)
private func planarRow<let outputs: Int, let columns: Int>(
  _ count: Count<outputs>, _ vectors: Count<columns>, _ a: ConvolutionArguments,
  _ row: Int, _ channel: Int, _ weights: UnsafePointer<Float>
) {
  let bias = planarBias(count, a, channel)
  let wide = columns &* lanes
  var x = 0
  while x &+ wide <= a.extent.width {
    planarTile(count, vectors, a, bias, row: row, column: x, channel: channel, weights: weights)
    x &+= wide
  }
  while x &+ 2 &* lanes <= a.extent.width {
    planarTile(count, Count<2>(), a, bias, row: row, column: x, channel: channel, weights: weights)
    x &+= 2 &* lanes
  }
  while x &+ lanes <= a.extent.width {
    planarTile(count, Count<1>(), a, bias, row: row, column: x, channel: channel, weights: weights)
    x &+= lanes
  }
  if x < a.extent.width {
    planarTail(count, a, bias, row: row, column: x, channel: channel, weights: weights)
  }
}

/// The bias of `outputs` channels; zero beyond the last channel.
@inline(__always)
func planarBias<let outputs: Int>(
  _: Count<outputs>, _ a: ConvolutionArguments, _ channel: Int
) -> InlineArray<outputs, Float> {
  var bias = InlineArray<outputs, Float>(repeating: 0)
  guard let values = a.epilogue.bias else { return bias }
  for o in 0..<outputs where channel &+ o < a.extent.blocks { bias[o] = values[channel &+ o] }
  return bias
}

/// Computes `outputs` channels of `columns` vectors of pixels.
@inline(__always)
private func planarTile<let outputs: Int, let columns: Int>(
  _: Count<outputs>, _: Count<columns>, _ a: ConvolutionArguments,
  _ bias: InlineArray<outputs, Float>, row: Int, column: Int,
  channel: Int, weights: UnsafePointer<Float>
) {
  var tile: Tile<outputs, columns> = zeros()
  for o in 0..<outputs {
    let start = splat(bias[o])
    for c in 0..<columns { tile[o][c] = start }
  }
  var w = weights
  var plane = a.input + (row &* a.inputStrides.row &+ column)
  for _ in 0..<a.inputBlocks {
    var line = plane
    for _ in 0..<a.window.height {
      var x = line
      for _ in 0..<a.window.width {
        var weight = InlineArray<outputs, Vector>(repeating: .zero)
        for o in 0..<outputs { weight[o] = splat(w[o]) }
        for c in 0..<columns {
          let pixels = load(x + c &* lanes)
          for o in 0..<outputs { tile[o][c] = multiplyAdd(weight[o], pixels, tile[o][c]) }
        }
        w += outputs
        x += a.window.dilationX
      }
      line += a.window.dilationY &* a.inputStrides.row
    }
    plane += a.inputStrides.block
  }
  let target = a.output + (row &* a.outputStrides.row &+ column)
  for o in 0..<outputs where channel &+ o < a.extent.blocks {
    let line = target + (channel &+ o) &* a.outputStrides.block
    for c in 0..<columns { store(tile[o][c], line + c &* lanes) }
  }
}

/// Computes the last pixels of a row, fewer than a vector has lanes.
@inline(__always)
private func planarTail<let outputs: Int>(
  _: Count<outputs>, _ a: ConvolutionArguments, _ bias: InlineArray<outputs, Float>, row: Int,
  column: Int, channel: Int,
  weights: UnsafePointer<Float>
) {
  let used = a.extent.width &- column
  var sums = InlineArray<outputs, Vector>(repeating: .zero)
  for o in 0..<outputs { sums[o] = splat(bias[o]) }
  var w = weights
  for i in 0..<a.inputBlocks {
    for ky in 0..<a.window.height {
      var x =
        a.input
        + (i &* a.inputStrides.block &+ (row &+ ky &* a.window.dilationY) &* a.inputStrides.row
          &+ column)
      for _ in 0..<a.window.width {
        let pixels = load(x, count: used)
        for o in 0..<outputs { sums[o] = multiplyAdd(splat(w[o]), pixels, sums[o]) }
        w += outputs
        x += a.window.dilationX
      }
    }
  }
  let target = a.output + (row &* a.outputStrides.row &+ column)
  for o in 0..<outputs where channel &+ o < a.extent.blocks {
    store(sums[o], target + (channel &+ o) &* a.outputStrides.block, count: used)
  }
}
