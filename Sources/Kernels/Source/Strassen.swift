import KernelInterface

/// The location of a pixel. Pixels are consecutive; only that of the first one needs divisions.
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
  init(_ pairs: StrassenPairs, pixel: Int, _ strides: Strides) {
    width = pairs.width
    rows = pairs.rows
    pixelStride = strides.pixel
    toNextRow = strides.row &- (width &- 1) &* strides.pixel
    toNextImage = strides.image &- (rows &- 1) &* strides.row &- (width &- 1) &* strides.pixel
    let area = rows &* width
    let rest = pixel % area
    row = rest / width
    column = rest % width
    offset = pixel / area &* strides.image &+ row &* strides.row &+ column &* pixelStride
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

/// Stores a block of channels of the left factors of Strassen's seven products.
///
/// - Parameters:
///   - upper, lower: a pixel of the upper half of the rows, and of the lower half, if there is one.
///   - toSecondHalf: the distance to the second half of the channels, if there is one.
@inline(__always)
private func storeFactors(
  upper: UnsafePointer<Float>, lower: UnsafePointer<Float>?, toSecondHalf: Int?,
  _ target: UnsafeMutablePointer<Float>, productStride: Int
) {
  var lane = 0
  while lane < channelBlock {
    let a11 = load(upper + lane)
    var a12 = Vector.zero
    var a21 = Vector.zero
    var a22 = Vector.zero
    if let toSecondHalf { a12 = load(upper + (toSecondHalf &+ lane)) }
    if let lower {
      a21 = load(lower + lane)
      if let toSecondHalf { a22 = load(lower + (toSecondHalf &+ lane)) }
    }
    let factors = target + lane
    store(a11 + a22, factors)
    store(a21 + a22, factors + productStride)
    store(a11, factors + 2 &* productStride)
    store(a22, factors + 3 &* productStride)
    store(a11 + a12, factors + 4 &* productStride)
    store(a21 - a11, factors + 5 &* productStride)
    store(a12 - a22, factors + 6 &* productStride)
    lane &+= lanes
  }
}

extension Table {
  @inline(never)
  package static func strassenInput(
    _ pairs: StrassenPairs, input: UnsafePointer<Float>, inputStrides: Strides, blocks: Int,
    allBlocks: Int, runBlocks: Int, sums: UnsafeMutablePointer<Float>, productStride: Int
  ) {
    let whole = min(pairs.count, pairs.pixels &- pairs.pairs &- pairs.first)
    let toSecondHalf = blocks &* inputStrides.block
    var target = sums
    var firstBlock = 0
    while firstBlock < blocks {
      var upper = PixelWalk(pairs, pixel: pairs.first, inputStrides)
      var lower = PixelWalk(pairs, pixel: pairs.first &+ pairs.pairs, inputStrides)
      var pair = 0
      while pair < pairs.count {
        var block = firstBlock
        while block < firstBlock &+ runBlocks {
          let plane = input + block &* inputStrides.block
          storeFactors(
            upper: plane + upper.offset, lower: pair < whole ? plane + lower.offset : nil,
            toSecondHalf: block &+ blocks < allBlocks ? toSecondHalf : nil, target,
            productStride: productStride)
          target += channelBlock
          block &+= 1
        }
        upper.advance()
        lower.advance()
        pair &+= 1
      }
      firstBlock &+= runBlocks
    }
  }
}

extension Table {
  @inline(never)
  package static func strassenOutput(
    _ pairs: StrassenPairs, products: UnsafePointer<Float>, productStride: Int, width: Int,
    channel firstChannel: Int, halfChannels: Int, channels: Int,
    output: UnsafeMutablePointer<Float>, outputStrides: Strides, epilogue: Epilogue
  ) {
    func walk(from pixel: Int) -> PixelWalk { PixelWalk(pairs, pixel: pixel, outputStrides) }
    func residualWalk(from pixel: Int) -> PixelWalk {
      PixelWalk(pairs, pixel: pixel, epilogue.residualStrides)
    }
    let whole = min(pairs.count, pairs.pixels &- pairs.pairs &- pairs.first)
    let halfBlocks = halfChannels / channelBlock
    var column = 0
    while column < width {
      let channel = firstChannel &+ column
      let block = channel / channelBlock
      let lane = channel % channelBlock
      let plane = output + (block &* outputStrides.block &+ lane)
      let toSecondHalf = halfBlocks &* outputStrides.block
      let addend = epilogue.residual.map { $0 + (block &* epilogue.residualStrides.block &+ lane) }
      let residualToSecondHalf = halfBlocks &* epilogue.residualStrides.block
      let bias1 = epilogue.bias.map { load($0 + channel) } ?? .zero
      let hasSecondHalf = channel &+ halfChannels < channels
      var bias2 = Vector.zero
      if hasSecondHalf, let bias = epilogue.bias { bias2 = load(bias + (channel &+ halfChannels)) }
      var upper = walk(from: pairs.first)
      var lower = walk(from: pairs.first &+ pairs.pairs)
      var upperAddend = residualWalk(from: pairs.first)
      var lowerAddend = residualWalk(from: pairs.first &+ pairs.pairs)
      var m = products + column
      var pair = 0
      while pair < pairs.count {
        let m0 = load(m)
        let m1 = load(m + productStride)
        let m2 = load(m + 2 &* productStride)
        let m3 = load(m + 3 &* productStride)
        let m4 = load(m + 4 &* productStride)
        let m5 = load(m + 5 &* productStride)
        let m6 = load(m + 6 &* productStride)
        // Pixels in rows, as required by activations: the slopes of a column are those of its
        // channels.
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
        activate(&first, epilogue.activation, channel: channel)
        store(first[0][0], p)
        if pair < whole { store(first[1][0], q) }
        if hasSecondHalf {
          activate(&second, epilogue.activation, channel: channel &+ halfChannels)
          store(second[0][0], p + toSecondHalf)
          if pair < whole { store(second[1][0], q + toSecondHalf) }
        }
        m += width
        upper.advance()
        lower.advance()
        pair &+= 1
      }
      column &+= lanes
    }
  }
}
