import KernelInterface

extension Table {
  @inline(never)
  package static func generalConvolution(
    _ a: ConvolutionArguments, groupOutputs: Int, channels: Range<Int>
  ) {
    let taps = a.window.taps
    for channel in channels.lowerBound..<channels.upperBound {
      let group = channel / groupOutputs
      let firstInput = group &* a.blockChannels
      let weights = a.weights + channel &* a.blockChannels &* taps
      let output =
        a.output
        + (channel / channelBlock &* a.outputStrides.block &+ channel % channelBlock)
      let start = a.epilogue.bias?[channel] ?? 0
      for y in 0..<a.extent.rows {
        for x in 0..<a.extent.width {
          let corner =
            y &* a.window.strideY &* a.inputStrides.row &+ x &* a.window.strideX &* channelBlock
          var sum = start
          var w = weights
          for i in firstInput..<firstInput &+ a.blockChannels {
            let plane =
              a.input
              + (corner &+ i / channelBlock &* a.inputStrides.block &+ i % channelBlock)
            for ky in 0..<a.window.height {
              var tap = plane + ky &* a.window.dilationY &* a.inputStrides.row
              for _ in 0..<a.window.width {
                sum += tap.pointee * w.pointee
                w += 1
                tap += a.window.dilationX &* channelBlock
              }
            }
          }
          output[y &* a.outputStrides.row &+ x &* channelBlock] = sum
        }
      }
    }
  }
}
