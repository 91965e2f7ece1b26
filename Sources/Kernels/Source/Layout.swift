import KernelInterface

extension Table {
  @inline(never)
  package static func block(_ a: LayoutArguments) {
    let (strides, rowStride) = (a.input.strides, a.output.strides.row)
    let isScaled = a.scale != nil || a.bias != nil
    var y = 0
    while y < a.extent.rows {
      var l = 0
      while l < a.extent.blocks {
        let factor = a.scale?[l] ?? 1
        let term = a.bias?[l] ?? 0
        var source = a.input.base + (y &* strides.row &+ l &* strides.block)
        var target = a.output.base + (y &* rowStride &+ l)
        var x = 0
        while x < a.extent.width {
          target.pointee = isScaled ? source.pointee * factor + term : source.pointee
          source += strides.pixel
          target += channelBlock
          x &+= 1
        }
        l &+= 1
      }
      while l < channelBlock {
        var x = 0
        while x < a.extent.width {
          a.output.base[y &* rowStride &+ x &* channelBlock &+ l] = 0
          x &+= 1
        }
        l &+= 1
      }
      y &+= 1
    }
  }

  @inline(never)
  package static func unblock(_ a: LayoutArguments) {
    let (rowStride, strides) = (a.input.strides.row, a.output.strides)
    var y = 0
    while y < a.extent.rows {
      var l = 0
      while l < a.extent.blocks {
        var source = a.input.base + (y &* rowStride &+ l)
        var target = a.output.base + (y &* strides.row &+ l &* strides.block)
        var x = 0
        while x < a.extent.width {
          target.pointee = source.pointee
          source += channelBlock
          target += strides.pixel
          x &+= 1
        }
        l &+= 1
      }
      y &+= 1
    }
  }
}
