import CVector
import KernelInterface

extension Table {
  @inline(never)
  package static func blockedNormalization(_ a: BlockedNormalization) {
    let (from, to) = (a.pixels.input, a.pixels.output)
    let channels = a.pixels.channels
    let size = Float(channels)
    for pixel in 0..<a.pixels.pixels {
      let input = from.base + pixel &* channelBlock
      let output = to.base + pixel &* channelBlock

      var sums = Vector.zero
      var channel = 0
      while channel < channels {
        let x = load(input + offset(channel, from.strides.block))
        sums += fill(x, from: channels &- channel, with: 0)
        channel &+= lanes
      }
      let mean = splat(laneSum(sums) / size)

      sums = .zero
      channel = 0
      while channel < channels {
        let x = load(input + offset(channel, from.strides.block)) - mean
        let centered = fill(x, from: channels &- channel, with: 0)
        sums = multiplyAdd(centered, centered, sums)
        channel &+= lanes
      }
      let factor = splat(1 / (laneSum(sums) / size + a.epsilon).squareRoot())

      channel = 0
      while channel < channels {
        let x = load(input + offset(channel, from.strides.block)) - mean
        let centered = fill(x, from: channels &- channel, with: 0)
        let scale = factor * load(a.scale + channel)
        store(
          multiplyAdd(centered, scale, load(a.bias + channel)),
          output + offset(channel, to.strides.block))
        channel &+= lanes
      }
      while channel % channelBlock != 0 {
        store(.zero, output + offset(channel, to.strides.block))
        channel &+= lanes
      }
    }
  }
}
