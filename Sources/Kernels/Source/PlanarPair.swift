import CVector
import KernelInterface

extension Table {
  @inline(never)
  package static func planarPairRows(
    _ d0: UnsafePointer<Float>, _ d1: UnsafePointer<Float>, _ d2: UnsafePointer<Float>,
    _ d3: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, rowStride: Int, count: Int,
    ahead: Int
  ) {
    var line = 0
    while line < count {
      vector_prefetch(d2 + (line &+ ahead))
      vector_prefetch(d3 + (line &+ ahead))
      line &+= lineFloats
    }
    var x = 0
    while x &+ lanes <= count {
      let (v0, v1, v2, v3) = (load(d0 + x), load(d1 + x), load(d2 + x), load(d3 + x))
      let output = target + x
      store(v1 + v2, output)
      store(v2 - v1, output + rowStride)
      store(v0 - v2, output + 2 &* rowStride)
      store(v3 - v1, output + 3 &* rowStride)
      x &+= lanes
    }
    while x < count {
      let output = target + x
      output[0] = d1[x] + d2[x]
      output[rowStride] = d2[x] - d1[x]
      output[2 &* rowStride] = d0[x] - d2[x]
      output[3 &* rowStride] = d3[x] - d1[x]
      x &+= 1
    }
  }
}

extension Table {
  @inline(never)
  package static func planarPair(_ a: ConvolutionArguments) {
    let group = planarGroup(a.extent.blocks)
    let groupWeights = a.inputBlocks &* a.window.width &* 4 &* group
    var channel = 0
    var weights = a.weights
    while channel < a.extent.blocks {
      switch group {
      case 1: planarPairTiles(Count<1>(), Count<4>(), a, channel, weights)
      case 2: planarPairTiles(Count<2>(), Count<2>(), a, channel, weights)
      case 3: planarPairTiles(Count<3>(), Count<2>(), a, channel, weights)
      #if KERNELS_AVX512 || arch(arm64)
        case 4: planarPairTiles(Count<4>(), Count<2>(), a, channel, weights)
        case 5: planarPairTiles(Count<5>(), Count<2>(), a, channel, weights)
        case 6: planarPairTiles(Count<6>(), Count<2>(), a, channel, weights)
      #endif
      default: break
      }
      channel &+= group
      weights += groupWeights
    }
  }
}

@inline(never)
private func planarPairTiles<let outputs: Int, let columns: Int>(
  _ count: Count<outputs>, _ vectors: Count<columns>, _ a: ConvolutionArguments, _ channel: Int,
  _ weights: UnsafePointer<Float>
) {
  let bias = planarBias(count, a, channel)
  let wide = columns &* lanes
  var x = 0
  while x &+ wide <= a.extent.width {
    planarPairTile(
      count, vectors, a, bias, column: x, channel: channel, weights: weights, isWhole: true)
    x &+= wide
  }
  while x &+ lanes <= a.extent.width {
    planarPairTile(
      count, Count<1>(), a, bias, column: x, channel: channel, weights: weights, isWhole: true)
    x &+= lanes
  }
  if x < a.extent.width {
    planarPairTile(
      count, Count<1>(), a, bias, column: x, channel: channel, weights: weights, isWhole: false)
  }
}

/// Computes `outputs` channels of two rows: `columns` vectors of pixels or, if it is not whole, the
/// last pixels of the rows, fewer than a vector has lanes.
@inline(__always)
private func planarPairTile<let outputs: Int, let columns: Int>(
  _: Count<outputs>, _: Count<columns>, _ a: ConvolutionArguments,
  _ bias: InlineArray<outputs, Float>, column: Int, channel: Int, weights: UnsafePointer<Float>,
  isWhole: Bool
) {
  let used = a.extent.width &- column
  var upper: Tile<outputs, columns> = zeros()
  var lower: Tile<outputs, columns> = zeros()
  for o in 0..<outputs {
    let start = splat(bias[o])
    for c in 0..<columns { upper[o][c] = start }
  }
  let groupWeights = a.inputBlocks &* a.window.width &* 2 &* outputs
  accumulate(a.input + column, weights, a, &upper, &lower, used: used, isWhole: isWhole)
  for o in 0..<outputs {
    for c in 0..<columns {
      let (sum, difference) = (upper[o][c] + lower[o][c], upper[o][c] - lower[o][c])
      upper[o][c] = sum
      lower[o][c] = difference
    }
  }
  accumulate(
    a.input + (column &+ 2 &* a.inputStrides.row), weights + groupWeights, a, &upper, &lower,
    used: used, isWhole: isWhole)
  let target = a.output + (column &+ channel &* a.outputStrides.block)
  let present = a.extent.blocks &- channel
  @inline(__always)
  func writeRow(_ tile: Tile<outputs, columns>, _ o: Int, _ row: UnsafeMutablePointer<Float>) {
    let line = row + o &* a.outputStrides.block
    for c in 0..<columns { write(tile[o][c], line + c &* lanes, used: used, isWhole: isWhole) }
  }
  // A condition for each channel and row would take a quarter of the instructions of a tile.
  if present >= outputs && a.extent.rows > 1 {
    for o in 0..<outputs {
      writeRow(upper, o, target)
      writeRow(lower, o, target + a.outputStrides.row)
    }
    return
  }
  for o in 0..<outputs where o < present {
    writeRow(upper, o, target)
    if a.extent.rows > 1 { writeRow(lower, o, target + a.outputStrides.row) }
  }
}

/// Adds the products of a half's first row to `upper` and of its second to `lower`.
@inline(__always)
private func accumulate<let outputs: Int, let columns: Int>(
  _ input: UnsafePointer<Float>, _ weights: UnsafePointer<Float>, _ a: ConvolutionArguments,
  _ upper: inout Tile<outputs, columns>, _ lower: inout Tile<outputs, columns>, used: Int,
  isWhole: Bool
) {
  var w = weights
  var plane = input
  var planesLeft = a.inputBlocks
  repeat {
    var x = plane
    var columnsLeft = a.window.width
    repeat {
      var pixels = InlineArray<columns, Vector>(repeating: .zero)
      for c in 0..<columns { pixels[c] = read(x + c &* lanes, used: used, isWhole: isWhole) }
      for o in 0..<outputs {
        let weight = splat(w[o])
        for c in 0..<columns { upper[o][c] = multiplyAdd(weight, pixels[c], upper[o][c]) }
      }
      let second = x + a.inputStrides.row
      for c in 0..<columns { pixels[c] = read(second + c &* lanes, used: used, isWhole: isWhole) }
      for o in 0..<outputs {
        let weight = splat(w[outputs &+ o])
        for c in 0..<columns { lower[o][c] = multiplyAdd(weight, pixels[c], lower[o][c]) }
      }
      w += 2 &* outputs
      x += a.window.dilationX
      columnsLeft &-= 1
    } while columnsLeft > 0
    plane += a.inputStrides.block
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
