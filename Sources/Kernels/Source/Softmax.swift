import KernelInterface

/// See `SoftmaxArguments`.
@inline(never)
func softmax(_ a: SoftmaxArguments) {
  guard a.count > 0 else { return }
  let peak = reduce(ReductionArguments(function: .maximum, input: a.input, count: a.count))
  let shift = splat(peak)
  var i = 0
  while i &+ lanes <= a.count {
    store(exponential(load(a.input + i) - shift), a.output + i)
    i &+= lanes
  }
  if i < a.count {
    let tail = exponential(load(a.input + i, count: a.count &- i) - shift)
    store(tail, a.output + i, count: a.count &- i)
  }
  let sum = reduce(
    ReductionArguments(function: .sum, input: UnsafePointer(a.output), count: a.count))
  let divisor = splat(sum)
  i = 0
  while i &+ lanes <= a.count {
    store(load(a.output + i) / divisor, a.output + i)
    i &+= lanes
  }
  while i < a.count {
    a.output[i] /= sum
    i &+= 1
  }
}

/// See `BlockedSoftmaxArguments`.
@inline(never)
func blockedSoftmax(_ a: BlockedSoftmaxArguments) {
  var pixel = 0
  while pixel < a.pixels {
    let input = a.input + pixel &* channelBlock
    let output = a.output + pixel &* channelBlock

    var peaks = splat(-.infinity)
    var channel = 0
    while channel < a.channels {
      let x = load(input + offset(channel, a.inputBlockStride))
      peaks = Largest.combine(peaks, fill(x, from: a.channels &- channel, with: -.infinity))
      channel &+= lanes
    }
    let peak = Largest.lanes(peaks, count: lanes)

    var sums = Vector.zero
    channel = 0
    while channel < a.channels {
      let x = load(input + offset(channel, a.inputBlockStride))
      let e = fill(exponential(x - splat(peak)), from: a.channels &- channel, with: 0)
      store(e, output + offset(channel, a.outputBlockStride))
      sums += e
      channel &+= lanes
    }
    let divisor = splat(laneSum(sums))
    channel = 0
    while channel < a.channels {
      let at = output + offset(channel, a.outputBlockStride)
      store(load(at) / divisor, at)
      channel &+= lanes
    }
    while channel % channelBlock != 0 {
      store(.zero, output + offset(channel, a.outputBlockStride))
      channel &+= lanes
    }
    pixel &+= 1
  }
}

@inline(__always)
private func offset(_ channel: Int, _ blockStride: Int) -> Int {
  channel / channelBlock &* blockStride &+ channel % channelBlock
}

/// `x` with `value` in the lanes from `count` on.
@inline(__always)
private func fill(_ x: Vector, from count: Int, with value: Float) -> Vector {
  if count >= lanes { return x }
  var numbers = IntegerVector.zero
  for l in 0..<lanes { numbers[l] = Int32(l) }
  return select(numbers .< splat(Int32(count)), x, splat(value))
}
