import CVector
import KernelInterface

extension Table {
  @inline(never)
  package static func softmax(
    _ input: UnsafePointer<Float>, to output: UnsafeMutablePointer<Float>, count: Int
  ) {
    guard count > 0 else { return }
    let peak = reduce(.maximum, input, count: count)
    let shift = splat(peak)
    var i = 0
    while i &+ lanes <= count {
      store(exponential(load(input + i) - shift), output + i)
      i &+= lanes
    }
    if i < count {
      let tail = exponential(load(input + i, count: count &- i) - shift)
      store(tail, output + i, count: count &- i)
    }
    let sum = reduce(.sum, output, count: count)
    let divisor = splat(sum)
    i = 0
    while i &+ lanes <= count {
      store(load(output + i) / divisor, output + i)
      i &+= lanes
    }
    while i < count {
      output[i] /= sum
      i &+= 1
    }
  }
}

extension Table {
  @inline(never)
  package static func softmaxRows(_ a: SoftmaxRows) {
    for row in 0..<a.rows {
      let scores = a.scores.base + row &* a.scores.strides.row
      if let factor = a.factor { a.apply(factor, row, to: scores, isSum: false) }
      if let mask = a.mask { a.apply(mask, row, to: scores, isSum: true) }
      a.normalize(scores)
    }
  }
}

extension SoftmaxRows {
  @inline(__always)
  fileprivate func apply(
    _ view: InputView, _ row: Int, to scores: UnsafeMutablePointer<Float>, isSum: Bool
  ) {
    let operand = view.base + row &* view.strides.row
    let step = view.strides.pixel
    let first = splat(operand[0])
    var i = 0
    while i &+ lanes <= count {
      let other = step == 0 ? first : load(operand + i)
      let score = load(scores + i)
      store(isSum ? score + other : score * other, scores + i)
      i &+= lanes
    }
    while i < count {
      let other = operand[i &* step]
      scores[i] = isSum ? scores[i] + other : scores[i] * other
      i &+= 1
    }
  }

  @inline(__always)
  fileprivate func normalize(_ scores: UnsafeMutablePointer<Float>) {
    let whole = count & -lanes
    let rest = count &- whole
    let end = UnsafeMutableRawPointer(scores + whole)
    var peaks = splat(-.infinity)
    var i = 0
    while i < whole {
      peaks = maximum(peaks, load(scores + i))
      i &+= lanes
    }
    if rest > 0 {
      peaks = maximum(peaks, fill(load(end, count: rest), from: rest, with: -.infinity))
    }
    let peak = splat(vector_largest(peaks))
    var sums = Vector.zero
    i = 0
    while i < whole {
      let e = decayingExponentialOrZero(load(scores + i) - peak)
      store(e, scores + i)
      sums += e
      i &+= lanes
    }
    if rest > 0 {
      let e = fill(decayingExponentialOrZero(load(end, count: rest) - peak), from: rest, with: 0)
      store(e, end, count: rest)
      sums += e
    }
    let factor = 1 / laneSum(sums)
    i = 0
    while i < whole {
      store(load(scores + i) * splat(factor), scores + i)
      i &+= lanes
    }
    while i < count {
      scores[i] *= factor
      i &+= 1
    }
  }
}

extension Table {
  @inline(never)
  package static func blockedSoftmax(_ a: BlockedPixels) {
    let (blockStride, outputBlockStride) = (a.input.strides.block, a.output.strides.block)
    let channels = a.channels
    var pixel = 0
    while pixel < a.pixels {
      let input = a.input.base + pixel &* channelBlock
      let output = a.output.base + pixel &* channelBlock

      var peaks = splat(-.infinity)
      var channel = 0
      while channel < channels {
        let x = load(input + offset(channel, blockStride))
        peaks = Largest.combine(peaks, fill(x, from: channels &- channel, with: -.infinity))
        channel &+= lanes
      }
      let peak = Largest.lanes(peaks, count: lanes)

      var sums = Vector.zero
      channel = 0
      while channel < channels {
        let x = load(input + offset(channel, blockStride))
        let e = fill(exponential(x - splat(peak)), from: channels &- channel, with: 0)
        store(e, output + offset(channel, outputBlockStride))
        sums += e
        channel &+= lanes
      }
      let divisor = splat(laneSum(sums))
      channel = 0
      while channel < channels {
        let at = output + offset(channel, outputBlockStride)
        store(load(at) / divisor, at)
        channel &+= lanes
      }
      while channel % channelBlock != 0 {
        store(.zero, output + offset(channel, outputBlockStride))
        channel &+= lanes
      }
      pixel &+= 1
    }
  }
}

/// The place of a channel in a blocked pixel.
@inline(__always)
func offset(_ channel: Int, _ blockStride: Int) -> Int {
  channel / channelBlock &* blockStride &+ channel % channelBlock
}

/// `x` with `value` in the lanes from `count` on.
@inline(__always)
func fill(_ x: Vector, from count: Int, with value: Float) -> Vector {
  if count >= lanes { return x }
  var numbers = IntegerVector.zero
  for l in 0..<lanes { numbers[l] = Int32(l) }
  return select(numbers .< splat(Int32(count)), x, splat(value))
}
