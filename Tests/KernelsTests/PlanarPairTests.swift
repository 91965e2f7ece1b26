import Testing

@testable import Kernels

@Suite struct PlanarPairTests {
  /// Every number of outputs, and widths up to several vectors.
  @Test(arguments: availableSets) func everyWidthAndChannelCount(_ set: InstructionSet) {
    for width in [1, 2, 7, 8, 15, 16, 17, 31, 33, 47, 63, 64, 65, 96, 111, 131] {
      for outputs in 1...8 {
        check(
          set,
          PlainConvolution(
            inputChannels: 1 + (width + outputs) % 4, outputChannels: outputs, rows: 5 - width % 2,
            width: width, kernel: (3, 3), dilation: (1, 1), padding: 1), seed: UInt64(width))
      }
    }
  }

  @Test(arguments: availableSets) func everyKernelAndDilation(_ set: InstructionSet) {
    for kernel in [1, 2, 3, 7] {
      for dilation in 1...3 {
        check(
          set,
          PlainConvolution(
            inputChannels: 3, outputChannels: 6, rows: 19, width: 53, kernel: (3, kernel),
            dilation: (1, dilation), padding: 0), seed: 5)
      }
    }
  }

  /// The weights as `[output / g][half][input][column][row of the half][output % g]`.
  private func packed(_ plain: PlainConvolution, _ w: [Float], group: Int) -> [Float] {
    let columns = plain.kernel.width
    var packed: [Float] = []
    for first in stride(from: 0, to: plain.outputChannels, by: group) {
      for half in 0..<2 {
        for input in 0..<plain.inputChannels {
          for column in 0..<columns {
            for row in 0..<2 {
              for o in first..<first + group {
                let start = (o * plain.inputChannels + input) * 3 * columns + column
                let v = o < plain.outputChannels ? (0..<3).map { w[start + $0 * columns] } : []
                let taps =
                  v.isEmpty
                  ? [0, 0, 0, 0]
                  : [(v[0] + v[1] + v[2]) / 2, (v[0] - v[1] + v[2]) / 2, v[0], v[2]]
                packed.append(taps[2 * half + row])
              }
            }
          }
        }
      }
    }
    return packed
  }

  private func check(_ set: InstructionSet, _ plain: PlainConvolution, seed: UInt64) {
    let (x, w, b) = ConvolutionTests.data(plain, seed: seed)
    let pad = plain.padding
    let width = plain.width + 2 * pad
    let group = set.kernels.planarGroup(plain.outputChannels)
    let zeros = [Float](repeating: 0, count: width)
    let expected = plain.compute(x, w, b)
    for edge in GuardedBuffer.Edge.allCases {
      let weights = GuardedBuffer(packed(plain, w, group: group), at: edge)
      let bias = GuardedBuffer(b, at: edge)
      for y in stride(from: 0, to: plain.outputRows, by: 2) {
        let rows = min(2, plain.outputRows - y)
        let prepared = GuardedBuffer(count: plain.inputChannels * 4 * width, at: edge)
        for channel in 0..<plain.inputChannels {
          let lines = (0..<4).map { line in
            let row = y + line - pad
            let start = (channel * plain.rows + row) * plain.width
            let border = [Float](repeating: 0, count: pad)
            return GuardedBuffer(
              row < 0 || row >= plain.rows
                ? zeros : border + x[start..<start + plain.width] + border, at: edge)
          }
          set.kernels.planarPairRows(
            PlanarPairRows(
              rows: InlineArray { lines[$0].constant },
              output: OutputView(prepared.pointer + channel * 4 * width, Strides(row: width)),
              count: width, ahead: 2 * plain.width))
        }
        let pixels = rows * plain.outputWidth
        let output = GuardedBuffer(count: plain.outputChannels * pixels, at: edge)
        set.kernels.planarPair(
          ConvolutionArguments(
            input: InputView(prepared.constant, Strides(row: width, block: 4 * width)),
            inputBlocks: plain.inputChannels, weights: weights.constant, window: plain.window,
            output: OutputView(output.pointer, Strides(row: plain.outputWidth, block: pixels)),
            extent: Extent(blocks: plain.outputChannels, rows: rows, width: plain.outputWidth),
            epilogue: Epilogue(bias: bias.constant)))
        let plane = plain.outputRows * plain.outputWidth
        let part = (0..<plain.outputChannels).flatMap { channel -> [(Double, Double)] in
          let start = channel * plane + y * plain.outputWidth
          return Array(expected[start..<start + pixels])
        }
        expectClose(
          output.values, part,
          "\(set) \(plain.outputChannels) outputs, width \(plain.outputWidth), row \(y)")
      }
    }
  }
}
