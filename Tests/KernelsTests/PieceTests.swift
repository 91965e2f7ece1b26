import TensorCore
import TestSupport
import Testing

@testable import Kernels

@Suite struct PieceTests {
  private typealias Derivation = WinogradDerivation

  private let derivation = Derivation(
    points: [Fraction(0), Fraction(1), Fraction(-1), Fraction(2)], outputs: 3, taps: 3)

  private func integers(_ count: Int, seed: UInt64) -> [Float] {
    var generator = SplitMix64(seed: seed)
    return (0..<count).map { _ in Float(Int.random(in: -64...64, using: &generator)) }
  }

  private func tile(_ value: (Int, Int) -> Float) -> [[Fraction]] {
    (0..<5).map { y in (0..<5).map { x in Fraction(Int(value(y, x))) } }
  }

  /// Small integers are transformed without rounding, so the kernel must match the derived matrices
  /// exactly; elements outside the input count as zero and are not read.
  @Test(arguments: availableSets) func inputTransformIsExact(_ set: InstructionSet) {
    for blockChannels in [1, set.kernels.channelBlock] {
      for (rows, width, tiles) in [(5, 5, 1), (5, 14, 4), (3, 13, 4), (1, 7, 3), (5, 77, 25)] {
        let blocks = 2
        let planeStride = rows * width * blockChannels
        let values = integers(blocks * planeStride, seed: UInt64(width))
        let channels = blocks * blockChannels
        for edge in GuardedBuffer.Edge.allCases {
          let input = GuardedBuffer(values, at: edge)
          let output = GuardedBuffer(count: 25 * tiles * channels, at: edge)
          set.kernels.pieceInput(
            tiles: tiles, blockChannels: blockChannels, rows: rows, width: width,
            InputTransformArguments(
              input: InputView(
                input.constant, Strides(row: width * blockChannels, block: planeStride)),
              blocks: 0..<blocks, transformed: output.pointer,
              transformedStrides: PointStrides(tile: channels, point: tiles * channels)))
          let found = output.values
          for t in 0..<tiles {
            for c in 0..<channels {
              let d = tile { y, x in
                let column = 3 * t + x
                guard y < rows, column < width else { return 0 }
                return values[
                  c / blockChannels * planeStride + (y * width + column) * blockChannels
                    + c % blockChannels]
              }
              let exact = Derivation.sandwich(derivation.inputTransform, d).flatMap { $0 }
              let isExact = (0..<25).allSatisfy {
                Double(found[($0 * tiles + t) * channels + c]) == exact[$0].double
              }
              #expect(isExact, "\(set) \(rows)×\(width), tile \(t), channel \(c)")
            }
          }
        }
      }
    }
  }

  @Test(arguments: availableSets) func outputTransformIsExact(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    for (rows, width, tiles) in [(3, 3, 1), (3, 11, 4), (2, 10, 4), (1, 1, 1)] {
      let products = integers(25 * 2 * tiles * block, seed: 3)
      let bias = integers(2 * block, seed: 4)
      let input = GuardedBuffer(products, at: .end)
      let biases = GuardedBuffer(bias, at: .end)
      for edge in GuardedBuffer.Edge.allCases {
        let output = GuardedBuffer(count: 2 * rows * width * block, at: edge)
        set.kernels.pieceOutput(
          PieceOutput(
            products: PointBuffer(input.pointer, stride: 2 * tiles * block),
            blockStride: tiles * block, tiles: tiles,
            output: OutputView(
              output.pointer, Strides(row: width * block, block: rows * width * block)),
            extent: Extent(blocks: 2, rows: rows, width: width),
            epilogue: Epilogue(bias: biases.constant, activation: .relu)))
        let found = output.values
        for t in 0..<tiles {
          for c in 0..<2 * block {
            let m = tile { y, x in
              products[(((5 * y + x) * 2 + c / block) * tiles + t) * block + c % block]
            }
            let exact = Derivation.sandwich(derivation.outputTransform, m)
            for y in 0..<rows {
              for x in 0..<min(3, width - 3 * t) {
                let at = ((c / block * rows + y) * width + 3 * t + x) * block + c % block
                #expect(Double(found[at]) == max(0, exact[y][x].double + Double(bias[c])))
              }
            }
          }
        }
      }
    }
  }

  /// Sums with few channels over adjacent tiles, and their transform into planes.
  @Test(arguments: availableSets) func sumsOfPieces(_ set: InstructionSet) {
    for channels in 1...4 {
      let (tiles, pieces, rows, width) = (6, 3, 2, 17)
      let columns = 2 * pieces * channels + 4
      let products = integers(25 * (tiles + pieces - 1) * columns, seed: UInt64(channels))
      let bias = integers(4, seed: 9)
      let sumStride = 8 * 4
      let sums = GuardedBuffer(count: 25 * sumStride, at: .end)
      var expected = [[Int]](repeating: [], count: 25)
      for point in 0..<25 {
        let start = point * (tiles + pieces - 1) * columns
        let values = GuardedBuffer(
          Array(products[start..<start + (tiles + pieces - 1) * columns]), at: .end)
        for row in 0..<2 {
          set.kernels.pieceSums(
            PieceSums(
              products: InputView(
                values.constant + row * pieces * channels, Strides(pixel: columns)),
              channels: channels, tiles: tiles, pieces: pieces,
              sums: sums.pointer + point * sumStride, accumulates: row > 0))
        }
        expected[point] = (0..<tiles * channels).map { index in
          let (t, c) = index.quotientAndRemainder(dividingBy: channels)
          return (0..<2 * pieces).reduce(0) { sum, piece in
            sum
              + Int(products[start + (t + piece % pieces) * columns + piece * channels + c])
          }
        }
      }
      let biases = GuardedBuffer(bias, at: .end)
      let output = GuardedBuffer(count: channels * rows * width, at: .end)
      set.kernels.pieceSumOutput(
        PieceOutput(
          products: PointBuffer(sums.pointer, stride: sumStride), tiles: tiles,
          output: OutputView(output.pointer, Strides(row: width, block: rows * width)),
          extent: Extent(blocks: channels, rows: rows, width: width),
          epilogue: Epilogue(bias: biases.constant)))
      let found = output.values
      for c in 0..<channels {
        for t in 0..<tiles {
          let m = tile { y, x in Float(expected[5 * y + x][t * channels + c]) }
          let exact = Derivation.sandwich(derivation.outputTransform, m)
          for y in 0..<rows {
            for x in 0..<min(3, width - 3 * t) {
              #expect(
                Double(found[(c * rows + y) * width + 3 * t + x])
                  == exact[y][x].double + Double(bias[c]))
            }
          }
        }
      }
    }
  }
}
