import Testing

@testable import Kernels

@Suite struct PlanarConvolutionTests {
  /// Every number of outputs, and widths up to several vectors.
  @Test(arguments: availableSets) func everyWidthAndChannelCount(_ set: InstructionSet) {
    for width in [1, 2, 7, 8, 15, 16, 17, 31, 33, 47, 63, 64, 65, 96, 111, 131] {
      for outputs in 1...8 {
        let plain = PlainConvolution(
          inputChannels: 1 + (width + outputs) % 4, outputChannels: outputs, rows: 4, width: width,
          kernel: (3, 2), dilation: (1, 1), padding: 1)
        check(set, plain, seed: UInt64(width))
      }
    }
  }

  @Test(arguments: availableSets) func everyKernelAndDilation(_ set: InstructionSet) {
    for kernel in [(1, 1), (3, 3), (5, 2), (1, 7)] {
      for dilation in [(1, 1), (2, 3)] {
        let plain = PlainConvolution(
          inputChannels: 3, outputChannels: 6, rows: 19, width: 53, kernel: kernel,
          dilation: dilation, padding: 0)
        check(set, plain, seed: 5)
      }
    }
  }

  private func check(_ set: InstructionSet, _ plain: PlainConvolution, seed: UInt64) {
    let (x, w, b) = ConvolutionTests.data(plain, seed: seed)
    let pad = plain.padding
    let source = BlockedPlanes(
      channels: plain.inputChannels, rows: plain.rows, width: plain.width, halo: pad, block: 1)
    let taps = plain.inputChannels * plain.kernel.height * plain.kernel.width
    let group = set.kernels.planarGroup(plain.outputChannels)
    var packed: [Float] = []
    for first in stride(from: 0, to: plain.outputChannels, by: group) {
      for tap in 0..<taps {
        for o in first..<first + group {
          packed.append(o < plain.outputChannels ? w[o * taps + tap] : 0)
        }
      }
    }
    for edge in GuardedBuffer.Edge.allCases {
      let input = GuardedBuffer(source.blocked(x), at: edge)
      let weights = GuardedBuffer(packed, at: edge)
      let bias = GuardedBuffer(b, at: edge)
      let pixels = plain.outputRows * plain.outputWidth
      let output = GuardedBuffer(count: plain.outputChannels * pixels, at: edge)
      set.kernels.planarConvolution(
        ConvolutionArguments(
          input: InputView(input.constant, source.strides), inputBlocks: plain.inputChannels,
          weights: weights.constant, window: plain.window,
          output: OutputView(output.pointer, Strides(row: plain.outputWidth, block: pixels)),
          extent: Extent(
            blocks: plain.outputChannels, rows: plain.outputRows, width: plain.outputWidth),
          epilogue: Epilogue(bias: bias.constant)))
      expectClose(
        output.values, plain.compute(x, w, b),
        "\(set) \(plain.outputChannels) outputs, width \(plain.outputWidth), \(plain.kernel)")
    }
  }
}
