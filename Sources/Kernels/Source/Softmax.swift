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
  package static func blockedSoftmax(
    _ source: UnsafePointer<Float>, blockStride: Int, to target: UnsafeMutablePointer<Float>,
    outputBlockStride: Int, pixels: Int, channels: Int
  ) {
    var pixel = 0
    while pixel < pixels {
      let input = source + pixel &* channelBlock
      let output = target + pixel &* channelBlock

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
