import KernelInterface

/// See `BlockingArguments`.
@inline(never)
func block(_ a: BlockingArguments) {
  switch a.format {
  case .float32: block(a, bytes: 4) { $0.loadUnaligned(as: Float.self) }
  case .uint8: block(a, bytes: 1) { Float($0.load(as: UInt8.self)) }
  }
}

@inline(__always)
private func block(
  _ a: BlockingArguments, bytes: Int, _ value: (UnsafeRawPointer) -> Float
) {
  let isScaled = a.scale != nil || a.bias != nil
  var y = 0
  while y < a.rows {
    let row = a.input + y &* a.rowStride &* bytes
    let output = a.output + y &* a.outputRowStride
    var l = 0
    while l < a.channels {
      let scale = a.scale?[l] ?? 1
      let bias = a.bias?[l] ?? 0
      var source = row + l &* a.channelStride &* bytes
      var target = output + l
      var x = 0
      while x < a.width {
        let v = value(source)
        target.pointee = isScaled ? v * scale + bias : v
        source += a.pixelStride &* bytes
        target += channelBlock
        x &+= 1
      }
      l &+= 1
    }
    while l < channelBlock {
      var x = 0
      while x < a.width {
        output[x &* channelBlock &+ l] = 0
        x &+= 1
      }
      l &+= 1
    }
    y &+= 1
  }
}

/// See `UnblockingArguments`.
@inline(never)
func unblock(_ a: UnblockingArguments) {
  var y = 0
  while y < a.rows {
    let input = a.input + y &* a.inputRowStride
    var l = 0
    while l < a.channels {
      var source = input + l
      var target = a.output + (y &* a.rowStride &+ l &* a.channelStride)
      var x = 0
      while x < a.width {
        target.pointee = source.pointee
        source += channelBlock
        target += a.pixelStride
        x &+= 1
      }
      l &+= 1
    }
    y &+= 1
  }
}
