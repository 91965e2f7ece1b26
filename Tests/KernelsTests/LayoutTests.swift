import TensorCore
import TestSupport
import Testing

@testable import Kernels

@Suite struct LayoutTests {
  @Test(arguments: availableSets) func planarThereAndBack(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    var generator = SplitMix64(seed: 6)
    for width in 1...33 {
      let rows = 1 + width % 3
      for channels in [1, 3, block - 1, block] {
        for edge in GuardedBuffer.Edge.allCases {
          let planes = BlockedPlanes(
            channels: channels, rows: rows, width: width, halo: 1, block: block)
          let x = generator.values(channels * rows * width)
          let input = GuardedBuffer(x, at: edge)
          let blocked = GuardedBuffer(
            [Float](repeating: 0, count: planes.count), at: edge)
          set.kernels.block(
            LayoutArguments(
              input: InputView(input.constant, Strides(pixel: 1, row: width, block: rows * width)),
              output: OutputView(blocked.pointer + planes.origin, Strides(row: planes.rowStride)),
              extent: Extent(blocks: channels, rows: rows, width: width)))
          #expect(blocked.values == planes.blocked(x), "\(set) \(channels) x \(rows) x \(width)")

          let back = GuardedBuffer(count: x.count, at: edge)
          set.kernels.unblock(
            LayoutArguments(
              input: InputView(blocked.constant + planes.origin, Strides(row: planes.rowStride)),
              output: OutputView(back.pointer, Strides(pixel: 1, row: width, block: rows * width)),
              extent: Extent(blocks: channels, rows: rows, width: width)))
          #expect(back.values == x, "\(set) \(channels) x \(rows) x \(width)")
        }
      }
    }
  }

  /// Interleaved pixels with reversed colors, scaled and biased.
  @Test(arguments: availableSets) func reversedChannels(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    for width in [1, 2, 7, 8, 15, 16, 17, 33] {
      let rows = 3
      let values = (0..<rows * width * 3).map { Float(UInt8(truncatingIfNeeded: $0 &* 37 &+ 11)) }
      let scale: [Float] = [0.5, 2, 1]
      let bias: [Float] = [-10, 3, 0.25]
      let planes = BlockedPlanes(channels: 3, rows: rows, width: width, halo: 0, block: block)
      let input = GuardedBuffer(values, at: .end)
      let output = GuardedBuffer(count: planes.count, at: .end)
      set.kernels.block(
        LayoutArguments(
          input: InputView(input.constant + 2, Strides(pixel: 3, row: width * 3, block: -1)),
          output: OutputView(output.pointer, Strides(row: planes.rowStride)),
          extent: Extent(blocks: 3, rows: rows, width: width), scale: scale, bias: bias))
      for y in 0..<rows {
        for x in 0..<width {
          for c in 0..<block {
            let found = output.values[planes.index(c, y, x)]
            let value = c < 3 ? values[(y * width + x) * 3 + 2 - c] * scale[c] + bias[c] : 0
            #expect(found == value, "\(set) \(width) \(c)")
          }
        }
      }
    }
  }

  @Test(arguments: availableSets) func interleavedFloats(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    let (rows, width, channels) = (2, 9, 5)
    let x = (0..<rows * width * channels).map(Float.init)
    let input = GuardedBuffer(x, at: .end)
    let planes = BlockedPlanes(channels: channels, rows: rows, width: width, halo: 0, block: block)
    let blocked = GuardedBuffer(count: planes.count, at: .end)
    set.kernels.block(
      LayoutArguments(
        input: InputView(input.constant, Strides(pixel: channels, row: width * channels, block: 1)),
        output: OutputView(blocked.pointer, Strides(row: planes.rowStride)),
        extent: Extent(blocks: channels, rows: rows, width: width)))
    #expect(blocked.values[planes.index(3, 1, 4)] == x[(width + 4) * channels + 3])
    let back = GuardedBuffer(count: x.count, at: .end)
    set.kernels.unblock(
      LayoutArguments(
        input: InputView(blocked.constant, Strides(row: planes.rowStride)),
        output: OutputView(back.pointer, Strides(pixel: channels, row: width * channels, block: 1)),
        extent: Extent(blocks: channels, rows: rows, width: width)))
    #expect(back.values == x)
  }
}
