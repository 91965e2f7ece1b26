import CVector
import KernelInterface

/// See `PlanarPairRows`.
@inline(never)
func planarPairRows(_ a: PlanarPairRows) {
  let stride = a.outputRowStride
  var line = 0
  while line < a.count {
    vector_prefetch(a.d2 + (line &+ a.ahead))
    vector_prefetch(a.d3 + (line &+ a.ahead))
    line &+= lineFloats
  }
  var x = 0
  while x &+ lanes <= a.count {
    let (d0, d1, d2, d3) = (load(a.d0 + x), load(a.d1 + x), load(a.d2 + x), load(a.d3 + x))
    let output = a.output + x
    store(d1 + d2, output)
    store(d2 - d1, output + stride)
    store(d0 - d2, output + 2 &* stride)
    store(d3 - d1, output + 3 &* stride)
    x &+= lanes
  }
  while x < a.count {
    let output = a.output + x
    output[0] = a.d1[x] + a.d2[x]
    output[stride] = a.d2[x] - a.d1[x]
    output[2 &* stride] = a.d0[x] - a.d2[x]
    output[3 &* stride] = a.d3[x] - a.d1[x]
    x &+= 1
  }
}

/// See `PlanarPairArguments`.
@inline(never)
func planarPair(_ a: PlanarPairArguments) {
  let times = (a.outputs &+ planarOutputs &- 1) / planarOutputs
  let group = (a.outputs &+ times &- 1) / max(times, 1)
  let groupWeights = a.inputs &* a.kernelWidth &* 4 &* group
  var channel = 0
  var weights = a.weights
  while channel < a.outputs {
    switch group {
    case 1: planarPair(Count<1>(), Count<4>(), a, channel, weights)
    case 2: planarPair(Count<2>(), Count<2>(), a, channel, weights)
    case 3: planarPair(Count<3>(), Count<2>(), a, channel, weights)
    #if KERNELS_AVX512
      case 4: planarPair(Count<4>(), Count<2>(), a, channel, weights)
      case 5: planarPair(Count<5>(), Count<2>(), a, channel, weights)
      case 6: planarPair(Count<6>(), Count<2>(), a, channel, weights)
    #endif
    default: break
    }
    channel &+= group
    weights += groupWeights
  }
}

@inline(never)
private func planarPair<let outputs: Int, let columns: Int>(
  _ count: Count<outputs>, _ vectors: Count<columns>, _ a: PlanarPairArguments, _ channel: Int,
  _ weights: UnsafePointer<Float>
) {
  let wide = columns &* lanes
  var x = 0
  while x &+ wide <= a.width {
    planarPairTile(
      count, vectors, a, column: x, channel: channel, weights: weights, isWhole: true)
    x &+= wide
  }
  while x &+ lanes <= a.width {
    planarPairTile(
      count, Count<1>(), a, column: x, channel: channel, weights: weights, isWhole: true)
    x &+= lanes
  }
  if x < a.width {
    planarPairTile(
      count, Count<1>(), a, column: x, channel: channel, weights: weights, isWhole: false)
  }
}

/// `outputs` channels of two rows of `columns` vectors of pixels, or, where it is not whole, of the
/// last pixels of the rows, fewer than a vector.
@inline(__always)
private func planarPairTile<let outputs: Int, let columns: Int>(
  _: Count<outputs>, _: Count<columns>, _ a: PlanarPairArguments, column: Int, channel: Int,
  weights: UnsafePointer<Float>, isWhole: Bool
) {
  let used = a.width &- column
  var upper = Tile<outputs, columns>(repeating: InlineArray(repeating: .zero))
  var lower = Tile<outputs, columns>(repeating: InlineArray(repeating: .zero))
  for o in 0..<outputs {
    let start = splat(channel &+ o < a.outputs ? a.bias[channel &+ o] : 0)
    for c in 0..<columns { upper[o][c] = start }
  }
  let groupWeights = a.inputs &* a.kernelWidth &* 2 &* outputs
  accumulate(
    a.input + column, weights, a, &upper, &lower, used: used, isWhole: isWhole)
  for o in 0..<outputs {
    for c in 0..<columns {
      let (sum, difference) = (upper[o][c] + lower[o][c], upper[o][c] - lower[o][c])
      upper[o][c] = sum
      lower[o][c] = difference
    }
  }
  accumulate(
    a.input + (column &+ 2 &* a.inputRowStride), weights + groupWeights, a, &upper, &lower,
    used: used, isWhole: isWhole)
  let target = a.output + column
  for o in 0..<outputs where channel &+ o < a.outputs {
    let line = target + (channel &+ o) &* a.outputPlaneStride
    for c in 0..<columns { write(upper[o][c], line + c &* lanes, used: used, isWhole: isWhole) }
    if a.rows < 2 { continue }
    for c in 0..<columns {
      write(
        lower[o][c], line + (a.outputRowStride &+ c &* lanes), used: used, isWhole: isWhole)
    }
  }
}

/// Adds a half's first row of products to `upper` and its second to `lower`.
@inline(__always)
private func accumulate<let outputs: Int, let columns: Int>(
  _ input: UnsafePointer<Float>, _ weights: UnsafePointer<Float>, _ a: PlanarPairArguments,
  _ upper: inout Tile<outputs, columns>, _ lower: inout Tile<outputs, columns>, used: Int,
  isWhole: Bool
) {
  var w = weights
  var plane = input
  var planesLeft = a.inputs
  repeat {
    var x = plane
    var columnsLeft = a.kernelWidth
    repeat {
      var pixels = InlineArray<columns, Vector>(repeating: .zero)
      for c in 0..<columns { pixels[c] = read(x + c &* lanes, used: used, isWhole: isWhole) }
      for o in 0..<outputs {
        let weight = splat(w[o])
        for c in 0..<columns { upper[o][c] = multiplyAdd(weight, pixels[c], upper[o][c]) }
      }
      let second = x + a.inputRowStride
      for c in 0..<columns { pixels[c] = read(second + c &* lanes, used: used, isWhole: isWhole) }
      for o in 0..<outputs {
        let weight = splat(w[outputs &+ o])
        for c in 0..<columns { lower[o][c] = multiplyAdd(weight, pixels[c], lower[o][c]) }
      }
      w += 2 &* outputs
      x += a.dilationX
      columnsLeft &-= 1
    } while columnsLeft > 0
    plane += a.inputPlaneStride
    planesLeft &-= 1
  } while planesLeft > 0
}

@inline(__always)
private func read(_ address: UnsafePointer<Float>, used: Int, isWhole: Bool) -> Vector {
  isWhole ? load(address) : load(address, count: used)
}

@inline(__always)
private func write(
  _ value: Vector, _ address: UnsafeMutablePointer<Float>, used: Int, isWhole: Bool
) {
  if isWhole { store(value, address) } else { store(value, address, count: used) }
}
