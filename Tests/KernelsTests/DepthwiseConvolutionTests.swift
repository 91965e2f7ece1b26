import Testing

@testable import Kernels

@Suite struct DepthwiseConvolutionTests {
  @Test(arguments: availableSets) func everyShape(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    for (index, width) in (5...33).enumerated() {
      for (stride, dilation) in [(1, 1), (2, 1), (1, 2), (3, 2)] {
        let channels = 1 + (index * 5) % 37
        let plain = PlainConvolution(
          inputChannels: channels, outputChannels: channels, rows: 9, width: width,
          kernel: [(3, 3), (1, 5), (2, 2)][index % 3], stride: (stride, stride),
          dilation: (dilation, dilation), groups: channels, padding: 2)
        let (x, w, b) = ConvolutionTests.data(plain, seed: UInt64(width))
        let source = BlockedPlanes(
          channels: channels, rows: plain.rows, width: width, halo: plain.padding, block: block)
        let target = BlockedPlanes(
          channels: channels, rows: plain.outputRows, width: plain.outputWidth, halo: 0,
          block: block)
        let taps = plain.kernel.height * plain.kernel.width
        let packed = GuardedBuffer(count: source.blocks * block * taps, at: .end)
        set.kernels.packConvolutionWeights(
          PackingArguments(
            source: w, layout: plain.weightLayout, panels: 0..<source.blocks,
            packed: packed.pointer),
          blockChannels: 1, panelBlocks: 1)
        let input = GuardedBuffer(source.blocked(x), at: .end)
        let bias = GuardedBuffer(
          b + [Float](repeating: 0, count: source.blocks * block - channels), at: .end)
        let residual = (0..<target.count).map { Float($0 % 7) - 3 }
        let output = GuardedBuffer(count: target.count, at: .end)
        for withResidual in [false, true] {
          residual.withUnsafeBufferPointer { residual in
            set.kernels.depthwiseConvolution(
              ConvolutionArguments(
                input: InputView(input.constant, source.strides), weights: packed.constant,
                window: plain.window, output: OutputView(output.pointer, target.strides),
                extent: target.extent,
                epilogue: withResidual
                  ? Epilogue(
                    bias: bias.constant, activation: .leaky(0.5), residual: residual.baseAddress,
                    residualStrides: target.strides)
                  : Epilogue(bias: bias.constant)))
          }
          var exact = plain.compute(x, w, b)
          if withResidual {
            for (index, addend) in target.planar(residual).enumerated() {
              let sum = exact[index].0 + Double(addend)
              exact[index] = (sum < 0 ? sum * 0.5 : sum, exact[index].1 + abs(Double(addend)))
            }
          }
          expectClose(target.planar(output.values), exact, "\(set) \(width) \(stride) \(dilation)")
        }
      }
    }
  }
}
