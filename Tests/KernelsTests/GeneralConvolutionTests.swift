import Testing

@testable import Kernels

@Suite struct GeneralConvolutionTests {
  @Test(arguments: availableSets) func anyGroups(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    for (inputs, outputs, groups) in [(6, 9, 3), (4, 8, 4), (10, 5, 5), (3, 7, 1), (34, 17, 17)] {
      for (stride, dilation) in [(1, 1), (2, 1), (1, 2)] {
        let plain = PlainConvolution(
          inputChannels: inputs, outputChannels: outputs, rows: 6, width: 7, kernel: (2, 3),
          stride: (stride, stride), dilation: (dilation, dilation), groups: groups)
        let (x, w, b) = ConvolutionTests.data(plain, seed: UInt64(groups))
        let source = BlockedPlanes(
          channels: inputs, rows: plain.rows, width: plain.width, halo: 1, block: block)
        let target = BlockedPlanes(
          channels: outputs, rows: plain.outputRows, width: plain.outputWidth, halo: 0,
          block: block)
        let input = GuardedBuffer(source.blocked(x, padding: 0), at: .end)
        let weights = GuardedBuffer(w, at: .end)
        let bias = GuardedBuffer(b, at: .end)
        let output = GuardedBuffer(count: target.count, at: .end)
        for range in [0..<outputs / 2, outputs / 2..<outputs] {
          set.kernels.generalConvolution(
            ConvolutionArguments(
              input: InputView(input.constant, source.strides), blockChannels: inputs / groups,
              weights: weights.constant, window: plain.window,
              output: OutputView(output.pointer, target.strides), extent: target.extent,
              epilogue: Epilogue(bias: bias.constant)),
            groupOutputs: outputs / groups, channels: range)
        }
        expectClose(target.planar(output.values), plain.compute(x, w, b), "\(set) \(groups)")
      }
    }
  }
}
