import KernelInterface

extension Table {
  @inline(never)
  package static func block(
    _ input: UnsafePointer<Float>, _ inputStrides: Strides, channels: Int, rows: Int, width: Int,
    scale: UnsafePointer<Float>?, bias: UnsafePointer<Float>?,
    to output: UnsafeMutablePointer<Float>, rowStride: Int
  ) {
    let isScaled = scale != nil || bias != nil
    var y = 0
    while y < rows {
      var l = 0
      while l < channels {
        let factor = scale?[l] ?? 1
        let term = bias?[l] ?? 0
        var source = input + (y &* inputStrides.row &+ l &* inputStrides.block)
        var target = output + (y &* rowStride &+ l)
        var x = 0
        while x < width {
          target.pointee = isScaled ? source.pointee * factor + term : source.pointee
          source += inputStrides.pixel
          target += channelBlock
          x &+= 1
        }
        l &+= 1
      }
      while l < channelBlock {
        var x = 0
        while x < width {
          output[y &* rowStride &+ x &* channelBlock &+ l] = 0
          x &+= 1
        }
        l &+= 1
      }
      y &+= 1
    }
  }

  @inline(never)
  package static func unblock(
    _ input: UnsafePointer<Float>, rowStride: Int, channels: Int, rows: Int, width: Int,
    to output: UnsafeMutablePointer<Float>, _ outputStrides: Strides
  ) {
    var y = 0
    while y < rows {
      var l = 0
      while l < channels {
        var source = input + (y &* rowStride &+ l)
        var target = output + (y &* outputStrides.row &+ l &* outputStrides.block)
        var x = 0
        while x < width {
          target.pointee = source.pointee
          source += channelBlock
          target += outputStrides.pixel
          x &+= 1
        }
        l &+= 1
      }
      y &+= 1
    }
  }
}
