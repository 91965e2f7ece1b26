import KernelInterface

/// Vectors of neighbouring pixels that are computed at once.
#if KERNELS_AVX512
  private typealias PlanarVectors = Count<6>
#else
  private typealias PlanarVectors = Count<3>
#endif

/// See `PlanarConvolutionArguments`.
@inline(never)
func planarConvolution(_ a: PlanarConvolutionArguments) {
  let group = PlanarConvolutionArguments.channelsAtOnce(a.outputs)
  let groupWeights = a.inputs &* a.kernelHeight &* a.kernelWidth &* group
  var y = 0
  while y < a.rows {
    var channel = 0
    var weights = a.weights
    while channel < a.outputs {
      switch group {
      case 1: planarRow(Count<1>(), a, row: y, channel: channel, weights: weights)
      case 2: planarRow(Count<2>(), a, row: y, channel: channel, weights: weights)
      case 3: planarRow(Count<3>(), a, row: y, channel: channel, weights: weights)
      default: planarRow(Count<4>(), a, row: y, channel: channel, weights: weights)
      }
      channel &+= group
      weights += groupWeights
    }
    y &+= 1
  }
}

@inline(never)
private func planarRow<let outputs: Int>(
  _ count: Count<outputs>, _ a: PlanarConvolutionArguments, row: Int, channel: Int,
  weights: UnsafePointer<Float>
) {
  let wide = PlanarVectors.value &* lanes
  var x = 0
  while x &+ wide <= a.width {
    planarTile(
      count, PlanarVectors(), a, row: row, column: x, channel: channel, weights: weights)
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
        var pixels = InlineArray<columns, Vector>(repeating: .zero)
        for c in 0..<columns { pixels[c] = load(x + c &* lanes) }
        for o in 0..<outputs {
          let weight = splat(w[o])
          for c in 0..<columns { tile[o][c] = multiplyAdd(weight, pixels[c], tile[o][c]) }
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
