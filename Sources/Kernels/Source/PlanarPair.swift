import CVector
import KernelInterface

extension Table {
  @inline(never)
  package static func planarPairRows(_ a: PlanarPairRows) {
    let (d0, d1, d2, d3) = (a.rows[0], a.rows[1], a.rows[2], a.rows[3])
    let (target, rowStride, count) = (a.output.base, a.output.strides.row, a.count)
    var line = 0
    while line < count {
      vector_prefetch(d2 + (line &+ a.ahead))
      vector_prefetch(d3 + (line &+ a.ahead))
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
      let part = PlanarPart(channel: channel, weights: weights)
      switch group {
      case 1: planarPairTiles(Count<1>(), Count<4>(), a, part)
      case 2: planarPairTiles(Count<2>(), Count<2>(), a, part)
      case 3: planarPairTiles(Count<3>(), Count<2>(), a, part)
      #if KERNELS_AVX512 || arch(arm64)
        case 4: planarPairTiles(Count<4>(), Count<2>(), a, part)
        case 5: planarPairTiles(Count<5>(), Count<2>(), a, part)
        case 6: planarPairTiles(Count<6>(), Count<2>(), a, part)
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
  _: Count<outputs>, _ vectors: Count<columns>, _ a: ConvolutionArguments, _ part: PlanarPart
) {
  var tile = PlanarTile<outputs>(part: part, bias: planarBias(a, part.channel))
  let wide = columns &* lanes
  while tile.column &+ wide <= a.extent.width {
    planarPairTile(vectors, a, tile)
    tile.column &+= wide
  }
  while tile.column &+ lanes <= a.extent.width {
    planarPairTile(Count<1>(), a, tile)
    tile.column &+= lanes
  }
  let rest = a.extent.width &- tile.column
  if rest > 0 { planarPairTile(Count<1>(), a, tile, used: rest) }
}

/// The sums of the two transformed rows.
private struct PairSums<let outputs: Int, let columns: Int> {
  var upper: Tile<outputs, columns> = zeros()
  var lower: Tile<outputs, columns> = zeros()
}

/// Computes `outputs` channels of two rows: `columns` vectors of pixels or, with `used`, the last
/// pixels of the rows, fewer than a vector has lanes.
@inline(__always)
private func planarPairTile<let outputs: Int, let columns: Int>(
  _: Count<columns>, _ a: ConvolutionArguments, _ tile: PlanarTile<outputs>, used: Int? = nil
) {
  let (column, channel) = (tile.column, tile.part.channel)
  var sums = PairSums<outputs, columns>()
  for o in 0..<outputs {
    let start = splat(tile.bias[o])
    for c in 0..<columns { sums.upper[o][c] = start }
  }
  let groupWeights = a.inputBlocks &* a.window.width &* 2 &* outputs
  accumulate(a.input.base + column, tile.part.weights, a, &sums, used: used)
  for o in 0..<outputs {
    for c in 0..<columns {
      let (upper, lower) = (sums.upper[o][c], sums.lower[o][c])
      sums.upper[o][c] = upper + lower
      sums.lower[o][c] = upper - lower
    }
  }
  accumulate(
    a.input.base + (column &+ 2 &* a.input.strides.row), tile.part.weights + groupWeights, a, &sums,
    used: used)
  let target = a.output.base + (column &+ channel &* a.output.strides.block)
  let present = a.extent.blocks &- channel
  @inline(__always)
  func writeRow(_ tile: Tile<outputs, columns>, _ o: Int, _ row: UnsafeMutablePointer<Float>) {
    let line = row + o &* a.output.strides.block
    for c in 0..<columns { write(tile[o][c], line + c &* lanes, used: used) }
  }
  // Testing each channel and row would take a quarter of a tile's instructions.
  if present >= outputs && a.extent.rows > 1 {
    for o in 0..<outputs {
      writeRow(sums.upper, o, target)
      writeRow(sums.lower, o, target + a.output.strides.row)
    }
    return
  }
  for o in 0..<outputs where o < present {
    writeRow(sums.upper, o, target)
    if a.extent.rows > 1 { writeRow(sums.lower, o, target + a.output.strides.row) }
  }
}

/// Adds the products of a half's first row to the upper sums and of its second to the lower ones.
@inline(__always)
private func accumulate<let outputs: Int, let columns: Int>(
  _ input: UnsafePointer<Float>, _ weights: UnsafePointer<Float>, _ a: ConvolutionArguments,
  _ sums: inout PairSums<outputs, columns>, used: Int?
) {
  var w = weights
  var plane = input
  var planesLeft = a.inputBlocks
  repeat {
    var x = plane
    var columnsLeft = a.window.width
    repeat {
      var pixels = InlineArray<columns, Vector>(repeating: .zero)
      for c in 0..<columns { pixels[c] = read(x + c &* lanes, used: used) }
      for o in 0..<outputs {
        let weight = splat(w[o])
        for c in 0..<columns { sums.upper[o][c] = multiplyAdd(weight, pixels[c], sums.upper[o][c]) }
      }
      let second = x + a.input.strides.row
      for c in 0..<columns { pixels[c] = read(second + c &* lanes, used: used) }
      for o in 0..<outputs {
        let weight = splat(w[outputs &+ o])
        for c in 0..<columns { sums.lower[o][c] = multiplyAdd(weight, pixels[c], sums.lower[o][c]) }
      }
      w += 2 &* outputs
      x += a.window.dilationX
      columnsLeft &-= 1
    } while columnsLeft > 0
    plane += a.input.strides.block
    planesLeft &-= 1
  } while planesLeft > 0
}

@inline(__always)
func read(_ address: UnsafePointer<Float>, used: Int?) -> Vector {
  if let used { load(address, count: used) } else { load(address) }
}

@inline(__always)
func write(_ value: Vector, _ address: UnsafeMutablePointer<Float>, used: Int?) {
  if let used { store(value, address, count: used) } else { store(value, address) }
}
