import TensorCore
import TestSupport
import Testing

@testable import Kernels

/// Products by bf16 tiles, computed by the processor, or emulated if it lacks them.
@Suite(.enabled(if: InstructionSet.avx512.isAvailable, "needs AVX-512")) struct BFloatTileTests {
  private func run(
    _ plain: PlainConvolution, _ tiles: Tiles, edge: GuardedBuffer.Edge = .end, panels: Int? = nil
  ) -> ConvolutionTests.Run {
    ConvolutionTests.Run(
      kernels: InstructionSet.avx512.kernels, plain: plain, edge: edge, panels: panels, tiles: tiles
    )
  }

  private static let widths = [(1, 16), (31, 17), (32, 32), (33, 48), (50, 65)]

  /// An even and an odd number of runs, and several chunks of 16 runs, the last of them shorter.
  private static let shapes: [PlainConvolution] =
    widths.map { PlainConvolution(inputChannels: 40, outputChannels: $1, rows: 3, width: $0) }
    + [16, 30, 496, 540, 1040].map {
      PlainConvolution(
        inputChannels: $0, outputChannels: 35, rows: 5, width: 9, kernel: (1, 1), padding: 0)
    }
    + [(2, 1), (1, 2)].map {
      PlainConvolution(
        inputChannels: 33, outputChannels: 64, rows: 11, width: 13, stride: ($0, $0),
        dilation: ($1, $1))
    }

  /// Errors relative to double precision are at most those of multiply-adds, within the buffers.
  @Test func errorsAreAtMostThoseOfMultiplyAdds() {
    var worst = (tiles: 0.0, multiplyAdds: 0.0)
    var squares = worst
    for plain in Self.shapes {
      let (x, w, b) = ConvolutionTests.data(plain, seed: 3)
      let exact = plain.compute(x, w, b)
      let plainResult = run(plain, .none).blocked(x, w, b)
      let found = run(plain, .emulated).blocked(x, w, b)
      #expect(run(plain, .emulated, edge: .begin).blocked(x, w, b) == found)
      expectClose(found, exact, "\(plain)")
      for (index, value) in exact.enumerated() {
        let errors = [found, plainResult].map { abs(Double($0[index]) - value.0) / value.1 }
        worst = (max(worst.tiles, errors[0]), max(worst.multiplyAdds, errors[1]))
        squares.tiles += errors[0] * errors[0]
        squares.multiplyAdds += errors[1] * errors[1]
      }
    }
    #expect(worst.tiles <= worst.multiplyAdds && squares.tiles <= squares.multiplyAdds)
  }

  /// Results are the same bits, however panels are divided, and in a row of other pixels.
  @Test func divisionsDoNotMatter() {
    let plain = PlainConvolution(
      inputChannels: 288, outputChannels: 96, rows: 4, width: 180, kernel: (1, 1), padding: 0)
    let (x, w, b) = ConvolutionTests.data(plain, seed: 5)
    let all = run(plain, .emulated).blocked(x, w, b)
    #expect(run(plain, .emulated, panels: 1).blocked(x, w, b) == all)
    var last = plain
    last.rows = 1
    let pixels = plain.rows * plain.width
    func lastRow(_ values: [Float], channels: Int) -> [Float] {
      (0..<channels).flatMap { values[($0 + 1) * pixels - plain.width..<($0 + 1) * pixels] }
    }
    let row = lastRow(x, channels: 288)
    #expect(run(last, .emulated).blocked(row, w, b) == lastRow(all, channels: 96))
  }

  /// For such pixels and channels, and only for these, the result is that of multiply-adds.
  @Test func numbersThatAreNotFiniteAndThoseThatAreTooLarge() {
    let plain = PlainConvolution(
      inputChannels: 48, outputChannels: 64, rows: 5, width: 9, kernel: (1, 1), padding: 0)
    var (x, w, b) = ConvolutionTests.data(plain, seed: 7)
    let before = run(plain, .emulated).blocked(x, w, b)
    for (pixel, value) in [(3, Float.nan), (17, .infinity), (30, 3.4e38), (44, -.infinity)] {
      x[5 * 45 + pixel] = value
    }
    // Finite factors with an infinite product.
    x[46] = 3e38
    w[40 * 48 + 1] = 40
    let found = run(plain, .emulated).blocked(x, w, b)
    let expected = run(plain, .none).blocked(x, w, b)
    for index in found.indices {
      let (channel, pixel) = (index / 45, index % 45)
      if [3, 17, 30, 44].contains(pixel) || (pixel == 1 && channel >= 32) {
        #expect(found[index].bitPattern == expected[index].bitPattern)
      } else if channel != 40 && pixel != 1 {
        #expect(found[index] == before[index])
      }
    }
    #expect(expected[40 * 45 + 1] == .infinity)
  }

  @Test(.enabled(if: InstructionSet.amx.isAvailable, "needs AMX"))
  func theProcessorAddsLikeTheEmulation() {
    for plain in Self.shapes {
      let (x, w, b) = ConvolutionTests.data(plain, seed: 9)
      #expect(run(plain, .processor).blocked(x, w, b) == run(plain, .emulated).blocked(x, w, b))
    }
  }
}
