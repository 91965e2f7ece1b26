import KernelInterface

/// See `GeneralConvolutionArguments`.
@inline(never)
func generalConvolution(_ a: GeneralConvolutionArguments) {
  let taps = a.kernelHeight &* a.kernelWidth
  var channel = a.firstChannel
  while channel < a.firstChannel &+ a.channelCount {
    let group = channel / a.groupOutputChannels
    let firstInput = group &* a.groupInputChannels
    let weights = a.weights + channel &* a.groupInputChannels &* taps &* 4
    let output =
      a.output
      + (channel / channelBlock &* a.outputBlockStride &+ channel % channelBlock)
    let start = a.bias?[channel] ?? 0
    var y = 0
    while y < a.outputRows {
      var x = 0
      while x < a.outputWidth {
        let corner = y &* a.strideY &* a.inputRowStride &+ x &* a.strideX &* channelBlock
        var sum = start
        var w = weights
        var i = firstInput
        while i < firstInput &+ a.groupInputChannels {
          let plane =
            a.input
            + (corner &+ i / channelBlock &* a.inputBlockStride &+ i % channelBlock)
          var ky = 0
          while ky < a.kernelHeight {
            var tap = plane + ky &* a.dilationY &* a.inputRowStride
            var kx = 0
            while kx < a.kernelWidth {
              sum += tap.pointee * w.loadUnaligned(as: Float.self)
              w += 4
              tap += a.dilationX &* channelBlock
              kx &+= 1
            }
            ky &+= 1
          }
          i &+= 1
        }
        output[y &* a.outputRowStride &+ x &* channelBlock] = sum
        x &+= 1
      }
      y &+= 1
    }
    channel &+= 1
  }
}
