import KernelInterface

extension Table {
  @inline(never)
  package static func generalConvolution(
    _ a: ConvolutionArguments, groupOutputs: Int, channels: Range<Int>
  ) {
    let taps = a.window.taps
    var channel = channels.lowerBound
    while channel < channels.upperBound {
      let group = channel / groupOutputs
      let firstInput = group &* a.blockChannels
      let weights = a.weights + channel &* a.blockChannels &* taps
      let output =
        a.output.base + (channel / channelBlock &* a.output.strides.block &+ channel % channelBlock)
      let start = a.epilogue.bias?[channel] ?? 0
      var y = 0
      while y < a.extent.rows {
        var x = 0
        while x < a.extent.width {
          let corner =
            y &* a.window.strideY &* a.input.strides.row &+ x &* a.window.strideX &* channelBlock
          var sum = start
          var w = weights
          var i = firstInput
          while i < firstInput &+ a.blockChannels {
            let plane =
              a.input.base
              + (corner &+ i / channelBlock &* a.input.strides.block &+ i % channelBlock)
            var ky = 0
            while ky < a.window.height {
              var tap = plane + ky &* a.window.dilationY &* a.input.strides.row
              var kx = 0
              while kx < a.window.width {
                sum += tap.pointee * w.pointee
                w += 1
                tap += a.window.dilationX &* channelBlock
                kx &+= 1
              }
              ky &+= 1
            }
            i &+= 1
          }
          output[y &* a.output.strides.row &+ x &* channelBlock] = sum
          x &+= 1
        }
        y &+= 1
      }
      channel &+= 1
    }
  }
}
