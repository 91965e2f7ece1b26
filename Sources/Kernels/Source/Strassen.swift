import KernelInterface

/// Where a pixel lies. Pixels follow one another; only the first one's place takes divisions.
private struct PixelWalk {
  private(set) var offset: Int
  private var column: Int
  private var row: Int
  private let width: Int
  private let rows: Int
  private let pixelStride: Int
  private let toNextRow: Int
  private let toNextImage: Int

  @inline(__always)
  init(
    _ pairs: StrassenPairs, pixel: Int, pixelStride: Int, rowStride: Int, imageStride: Int
  ) {
    width = pairs.width
    rows = pairs.rows
    self.pixelStride = pixelStride
    toNextRow = rowStride &- (width &- 1) &* pixelStride
    toNextImage = imageStride &- (rows &- 1) &* rowStride &- (width &- 1) &* pixelStride
    let area = rows &* width
    let rest = pixel % area
    row = rest / width
    column = rest % width
    offset = pixel / area &* imageStride &+ row &* rowStride &+ column &* pixelStride
  }

  @inline(__always)
  mutating func advance() {
    column &+= 1
    if column < width {
      offset &+= pixelStride
      return
    }
    column = 0
    row &+= 1
    if row < rows {
      offset &+= toNextRow
      return
    }
    row = 0
    offset &+= toNextImage
  }
}

/// See `StrassenInputArguments`.
@inline(never)
func strassenInput(_ a: StrassenInputArguments) {
  func walk(from pixel: Int) -> PixelWalk {
    PixelWalk(
      a.pairs, pixel: pixel, pixelStride: a.inputPixelStride, rowStride: a.inputRowStride,
      imageStride: a.inputImageStride)
  }
  let whole = min(a.pairs.count, a.pairs.pixels &- a.pairs.pairs &- a.pairs.first)
  let toSecondHalf = a.blocks &* a.inputBlockStride
  var channel = 0
  while channel < a.blocks &* channelBlock {
    let block = channel / channelBlock
    let lane = channel % channelBlock
    let plane = a.input + (block &* a.inputBlockStride &+ lane)
    let hasSecondHalf = block &+ a.blocks < a.allBlocks
    var target = a.sums + (block &* a.pairs.count &* channelBlock &+ lane)
    var upper = walk(from: a.pairs.first)
    var lower = walk(from: a.pairs.first &+ a.pairs.pairs)
    var pair = 0
    while pair < a.pairs.count {
      let first = plane + upper.offset
      let a11 = load(first)
      var a12 = Vector.zero
      if hasSecondHalf { a12 = load(first + toSecondHalf) }
      var a21 = Vector.zero
      var a22 = Vector.zero
      if pair < whole {
        let second = plane + lower.offset
        a21 = load(second)
        if hasSecondHalf { a22 = load(second + toSecondHalf) }
      }
      store(a11 + a22, target)
      store(a21 + a22, target + a.productStride)
      store(a11, target + 2 &* a.productStride)
      store(a22, target + 3 &* a.productStride)
      store(a11 + a12, target + 4 &* a.productStride)
      store(a21 - a11, target + 5 &* a.productStride)
      store(a12 - a22, target + 6 &* a.productStride)
      target += channelBlock
      upper.advance()
      lower.advance()
      pair &+= 1
    }
    channel &+= lanes
  }
}

/// See `StrassenOutputArguments`.
@inline(never)
func strassenOutput(_ a: StrassenOutputArguments) {
  func walk(from pixel: Int) -> PixelWalk {
    PixelWalk(
      a.pairs, pixel: pixel, pixelStride: channelBlock, rowStride: a.outputRowStride,
      imageStride: a.outputImageStride)
  }
  func residualWalk(from pixel: Int) -> PixelWalk {
    PixelWalk(
      a.pairs, pixel: pixel, pixelStride: channelBlock, rowStride: a.epilogue.residualRowStride,
      imageStride: a.residualImageStride)
  }
  let whole = min(a.pairs.count, a.pairs.pixels &- a.pairs.pairs &- a.pairs.first)
  let halfBlocks = a.halfChannels / channelBlock
  var column = 0
  while column < a.width {
    let channel = a.channel &+ column
    let block = channel / channelBlock
    let lane = channel % channelBlock
    let plane = a.output + (block &* a.outputBlockStride &+ lane)
    let toSecondHalf = halfBlocks &* a.outputBlockStride
    let addend = a.epilogue.residual.map { $0 + (block &* a.epilogue.residualBlockStride &+ lane) }
    let residualToSecondHalf = halfBlocks &* a.epilogue.residualBlockStride
    let bias1 = a.bias.map { load($0 + channel) } ?? .zero
    let hasSecondHalf = channel &+ a.halfChannels < a.channels
    var bias2 = Vector.zero
    if hasSecondHalf, let bias = a.bias { bias2 = load(bias + (channel &+ a.halfChannels)) }
    var upper = walk(from: a.pairs.first)
    var lower = walk(from: a.pairs.first &+ a.pairs.pairs)
    var upperAddend = residualWalk(from: a.pairs.first)
    var lowerAddend = residualWalk(from: a.pairs.first &+ a.pairs.pairs)
    var m = a.products + column
    var pair = 0
    while pair < a.pairs.count {
      let m0 = load(m)
      let m1 = load(m + a.productStride)
      let m2 = load(m + 2 &* a.productStride)
      let m3 = load(m + 3 &* a.productStride)
      let m4 = load(m + 4 &* a.productStride)
      let m5 = load(m + 5 &* a.productStride)
      let m6 = load(m + 6 &* a.productStride)
      // Pixels in rows, as an activation wants them: the slopes of a column are its channels'.
      var first: Tile<2, 1> = [
        [(m0 + m3) + (m6 - m4) + bias1], [m1 + m3 + bias1],
      ]
      var second: Tile<2, 1> = [
        [m2 + m4 + bias2], [(m0 - m1) + (m2 + m5) + bias2],
      ]
      if let addend {
        let p = addend + upperAddend.offset
        first[0][0] += load(p)
        if hasSecondHalf { second[0][0] += load(p + residualToSecondHalf) }
        if pair < whole {
          let q = addend + lowerAddend.offset
          first[1][0] += load(q)
          if hasSecondHalf { second[1][0] += load(q + residualToSecondHalf) }
        }
        upperAddend.advance()
        lowerAddend.advance()
      }
      let p = plane + upper.offset
      let q = plane + lower.offset
      activate(&first, a.epilogue, channel: channel)
      store(first[0][0], p)
      if pair < whole { store(first[1][0], q) }
      if hasSecondHalf {
        activate(&second, a.epilogue, channel: channel &+ a.halfChannels)
        store(second[0][0], p + toSecondHalf)
        if pair < whole { store(second[1][0], q + toSecondHalf) }
      }
      m += a.width
      upper.advance()
      lower.advance()
      pair &+= 1
    }
    column &+= lanes
  }
}
