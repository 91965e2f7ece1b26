import KernelInterface

extension Table {
  @inline(never)
  package static func block(
    _ input: UnsafePointer<Float>, _ inputStrides: Strides, channels: Int, rows: Int, width: Int,
    scale: UnsafePointer<Float>?, bias: UnsafePointer<Float>?,
    to output: UnsafeMutablePointer<Float>, rowStride: Int
  ) {
    let isScaled = scale != nil || bias != nil
    for y in 0..<rows {
      var l = 0
      while l < channels {
        let factor = scale?[l] ?? 1
        let term = bias?[l] ?? 0
        var source = input + (y &* inputStrides.row &+ l &* inputStrides.block)
        var target = output + (y &* rowStride &+ l)
        for _ in 0..<width {
          target.pointee = isScaled ? source.pointee * factor + term : source.pointee
          source += inputStrides.pixel
          target += channelBlock
        }
        l &+= 1
      }
      while l < channelBlock {
        for x in 0..<width {
          output[y &* rowStride &+ x &* channelBlock &+ l] = 0
        }
        l &+= 1
      }
    }
  }

  @inline(never)
  package static func unblock(
    _ input: UnsafePointer<Float>, rowStride: Int, channels: Int, rows: Int, width: Int,
    to output: UnsafeMutablePointer<Float>, _ outputStrides: Strides
  ) {
    for y in 0..<rows {
      for l in 0..<channels {
        var source = input + (y &* rowStride &+ l)
        var target = output + (y &* outputStrides.row &+ l &* outputStrides.block)
        for _ in 0..<width {
          target.pointee = source.pointee
          source += channelBlock
          target += outputStrides.pixel
        }
      }
    }
  }
}
