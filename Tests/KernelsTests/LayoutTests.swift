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
            BlockingArguments(
              input: input.pointer, channelStride: rows * width, rowStride: width, pixelStride: 1,
              channels: channels, output: blocked.pointer + planes.origin,
              outputRowStride: planes.rowStride, rows: rows, width: width))
          #expect(blocked.values == planes.blocked(x), "\(set) \(channels) x \(rows) x \(width)")

          let back = GuardedBuffer(count: x.count, at: edge)
          set.kernels.unblock(
            UnblockingArguments(
              input: blocked.constant + planes.origin, inputRowStride: planes.rowStride,
              output: back.pointer, channelStride: rows * width, rowStride: width, pixelStride: 1,
              channels: channels, rows: rows, width: width))
          #expect(back.values == x, "\(set) \(channels) x \(rows) x \(width)")
        }
      }
    }
  }

  /// Pixels of bytes with their colours turned round, scaled and biased.
  @Test(arguments: availableSets) func interleavedBytes(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    for width in [1, 2, 7, 8, 15, 16, 17, 33] {
      let rows = 3
      let bytes = (0..<rows * width * 3).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
      let scale: [Float] = [0.5, 2, 1]
      let bias: [Float] = [-10, 3, 0.25]
      let planes = BlockedPlanes(channels: 3, rows: rows, width: width, halo: 0, block: block)
      let output = GuardedBuffer(count: planes.count, at: .end)
      bytes.withUnsafeBytes {
        set.kernels.block(
          BlockingArguments(
            input: $0.baseAddress! + 2, format: .uint8, channelStride: -1, rowStride: width * 3,
            pixelStride: 3, channels: 3, scale: scale, bias: bias, output: output.pointer,
            outputRowStride: planes.rowStride, rows: rows, width: width))
      }
      for y in 0..<rows {
        for x in 0..<width {
          for c in 0..<block {
            let found = output.values[planes.index(c, y, x)]
            let byte = c < 3 ? Float(bytes[(y * width + x) * 3 + 2 - c]) : 0
            #expect(found == (c < 3 ? byte * scale[c] + bias[c] : 0), "\(set) \(width) \(c)")
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
      BlockingArguments(
        input: input.pointer, channelStride: 1, rowStride: width * channels, pixelStride: channels,
        channels: channels, output: blocked.pointer, outputRowStride: planes.rowStride, rows: rows,
        width: width))
    #expect(blocked.values[planes.index(3, 1, 4)] == x[(width + 4) * channels + 3])
    let back = GuardedBuffer(count: x.count, at: .end)
    set.kernels.unblock(
      UnblockingArguments(
        input: blocked.constant, inputRowStride: planes.rowStride, output: back.pointer,
        channelStride: 1, rowStride: width * channels, pixelStride: channels, channels: channels,
        rows: rows, width: width))
    #expect(back.values == x)
  }
}
