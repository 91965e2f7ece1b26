import KernelInterface

/// Output channels of the largest tile: with the vectors of pixels that go with them, what the
/// registers hold beside the weights of one step.
var planarOutputs: Int {
  @inline(__always) get {
    #if KERNELS_AVX512
      6
    #else
      3
    #endif
  }
}

#if KERNELS_AVX512
  private typealias FewOutputVectors = Count<6>
#else
  private typealias FewOutputVectors = Count<4>
#endif

/// See `PlanarConvolutionArguments`.
@inline(never)
func planarConvolution(_ a: PlanarConvolutionArguments) {
  let times = (a.outputs &+ planarOutputs &- 1) / planarOutputs
  let group = (a.outputs &+ times &- 1) / max(times, 1)
  let groupWeights = a.inputs &* a.kernelHeight &* a.kernelWidth &* group
  var y = 0
  while y < a.rows {
    var channel = 0
    var weights = a.weights
    while channel < a.outputs {
      switch group {
      case 1: planarRow(Count<1>(), FewOutputVectors(), a, y, channel, weights)
      case 2: planarRow(Count<2>(), FewOutputVectors(), a, y, channel, weights)
      case 3: planarRow(Count<3>(), FewOutputVectors(), a, y, channel, weights)
      #if KERNELS_AVX512
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

@inline(never)
private func planarRow<let outputs: Int, let columns: Int>(
  _ count: Count<outputs>, _ vectors: Count<columns>, _ a: PlanarConvolutionArguments,
  _ row: Int, _ channel: Int, _ weights: UnsafePointer<Float>
) {
  let wide = columns &* lanes
  var x = 0
  while x &+ wide <= a.width {
    planarTile(count, vectors, a, row: row, column: x, channel: channel, weights: weights)
    x &+= wide
  }
  while x &+ 2 &* lanes <= a.width {
    planarTile(count, Count<2>(), a, row: row, column: x, channel: channel, weights: weights)
    x &+= 2 &* lanes
  }
  while x &+ lanes <= a.width {
    planarTile(count, Count<1>(), a, row: row, column: x, channel: channel, weights: weights)
    x &+= lanes
  }
  if x < a.width {
    planarTail(count, a, row: row, column: x, channel: channel, weights: weights)
  }
}

/// `outputs` channels of `columns` vectors of pixels.
@inline(__always)
private func planarTile<let outputs: Int, let columns: Int>(
  _: Count<outputs>, _: Count<columns>, _ a: PlanarConvolutionArguments, row: Int, column: Int,
  channel: Int, weights: UnsafePointer<Float>
) {
  var tile = Tile<outputs, columns>(repeating: InlineArray(repeating: .zero))
  for o in 0..<outputs {
    let start = splat(channel &+ o < a.outputs ? a.bias[channel &+ o] : 0)
    for c in 0..<columns { tile[o][c] = start }
  }
  var w = weights
  var plane = a.input + (row &* a.inputRowStride &+ column)
  for _ in 0..<a.inputs {
    var line = plane
    for _ in 0..<a.kernelHeight {
      var x = line
      for _ in 0..<a.kernelWidth {
        var weight = InlineArray<outputs, Vector>(repeating: .zero)
        for o in 0..<outputs { weight[o] = splat(w[o]) }
        for c in 0..<columns {
          let pixels = load(x + c &* lanes)
          for o in 0..<outputs { tile[o][c] = multiplyAdd(weight[o], pixels, tile[o][c]) }
        }
        w += outputs
        x += a.dilationX
      }
      line += a.dilationY &* a.inputRowStride
    }
    plane += a.inputPlaneStride
  }
  let target = a.output + (row &* a.outputRowStride &+ column)
  for o in 0..<outputs where channel &+ o < a.outputs {
    let line = target + (channel &+ o) &* a.outputPlaneStride
    for c in 0..<columns { store(tile[o][c], line + c &* lanes) }
  }
}

/// The last pixels of a row, fewer than a vector.
@inline(__always)
private func planarTail<let outputs: Int>(
  _: Count<outputs>, _ a: PlanarConvolutionArguments, row: Int, column: Int, channel: Int,
  weights: UnsafePointer<Float>
) {
  let used = a.width &- column
  var sums = InlineArray<outputs, Vector>(repeating: .zero)
  for o in 0..<outputs { sums[o] = splat(channel &+ o < a.outputs ? a.bias[channel &+ o] : 0) }
  var w = weights
  for i in 0..<a.inputs {
    for ky in 0..<a.kernelHeight {
      var x =
        a.input
        + (i &* a.inputPlaneStride &+ (row &+ ky &* a.dilationY) &* a.inputRowStride &+ column)
      for _ in 0..<a.kernelWidth {
        let pixels = load(x, count: used)
        for o in 0..<outputs { sums[o] = multiplyAdd(splat(w[o]), pixels, sums[o]) }
        w += outputs
        x += a.dilationX
      }
    }
  }
  let target = a.output + (row &* a.outputRowStride &+ column)
  for o in 0..<outputs where channel &+ o < a.outputs {
    store(sums[o], target + (channel &+ o) &* a.outputPlaneStride, count: used)
  }
}
