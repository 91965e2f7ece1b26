import KernelInterface

/// See `PackingArguments`.
@inline(never)
func packConvolutionWeights(_ a: PackingArguments) {
  let taps = a.kernelHeight &* a.kernelWidth
  let inputBlocks = (a.inputChannels &+ a.blockChannels &- 1) / a.blockChannels
  let outputBlocks = (a.outputChannels &+ channelBlock &- 1) / channelBlock
  let panels = (outputBlocks &+ a.panelBlocks &- 1) / a.panelBlocks
  let fullPanel = a.panelBlocks &* channelBlock &* inputBlocks &* taps &* a.blockChannels
  var panel = a.firstPanel
  while panel < min(panels, a.firstPanel &+ a.panelCount) {
    let firstBlock = panel &* a.panelBlocks
    let width = min(a.panelBlocks, outputBlocks &- firstBlock) &* channelBlock
    let target = a.packed + panel &* fullPanel
    var block = 0
    while block < inputBlocks {
      packBlock(
        a, firstOutput: firstBlock &* channelBlock, width: width,
        firstInput: block &* a.blockChannels,
        target: target + block &* taps &* a.blockChannels &* width)
      block &+= 1
    }
    panel &+= 1
  }
}

/// `target[tap][c][column]` of one input block.
@inline(__always)
private func packBlock(
  _ a: PackingArguments, firstOutput: Int, width: Int, firstInput: Int,
  target: UnsafeMutablePointer<Float>
) {
  let tapStride = a.blockChannels &* width
  var column = 0
  while column < width {
    let output = firstOutput &+ column
    var c = 0
    while c < a.blockChannels {
      let input = firstInput &+ c
      var t = target + (c &* width &+ column)
      if output < a.outputChannels && input < a.inputChannels {
        let source = a.source + (output &* a.outputStride &+ input &* a.inputStride) &* 4
        var ky = 0
        while ky < a.kernelHeight {
          var s = source + ky &* a.rowStride &* 4
          var kx = 0
          while kx < a.kernelWidth {
            t.pointee = s.loadUnaligned(as: Float.self)
            s += a.columnStride &* 4
            t += tapStride
            kx &+= 1
          }
          ky &+= 1
        }
      } else {
        var tap = 0
        while tap < a.kernelHeight &* a.kernelWidth {
          t.pointee = 0
          t += tapStride
          tap &+= 1
        }
      }
      c &+= 1
    }
    column &+= 1
  }
}
