import TensorCore
import TestSupport
import Testing

@testable import Kernels

@Suite struct UpsampledTests {
  private typealias Derivation = WinogradDerivation

  private let derivation = Derivation(
    points: [Fraction(0), Fraction(1), Fraction(-1), Fraction(1, 2), Fraction(-2)], outputs: 5,
    taps: 2)

  private func integers(_ count: Int, seed: UInt64) -> [Float] {
    var generator = SplitMix64(seed: seed)
    return (0..<count).map { _ in Float(Int.random(in: -64...64, using: &generator)) }
  }

  private func tile(_ value: (Int, Int) -> Float) -> [[Fraction]] {
    (0..<6).map { y in (0..<6).map { x in Fraction(Int(value(y, x))) } }
  }

  private let sizes = [(1, 1), (4, 5), (6, 9), (11, 3), (10, 14)]

  /// Everything outside the image is zero and is not read.
  @Test(arguments: availableSets) func inputTransformIsExact(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    for (rows, width) in sizes {
      let values = integers(2 * rows * width * block, seed: UInt64(rows))
      let across = UpsampledTiles.across(width)
      let count = UpsampledTiles.across(rows) * across
      for edge in GuardedBuffer.Edge.allCases {
        let input = GuardedBuffer(values, at: edge)
        let output = GuardedBuffer(count: 36 * count * 2 * block, at: edge)
        // Two calls, the second of which starts anywhere.
        for part in [0..<count / 2, count / 2..<count] {
          set.kernels.upsampledInput(
            UpsampledTiles(rows: rows, width: width, first: part.lowerBound, count: part.count),
            InputTransformArguments(
              input: InputView(
                input.constant, Strides(row: width * block, block: rows * width * block)),
              blocks: 0..<2, transformed: output.pointer + part.lowerBound * 2 * block,
              transformedStrides: PointStrides(tile: 2 * block, point: count * 2 * block)))
        }
        let found = output.values
        for t in 0..<count {
          for c in 0..<2 * block {
            let d = tile { y, x in
              let (row, column) = (t / across * 5 - 1 + y, t % across * 5 - 1 + x)
              guard 0..<rows ~= row, 0..<width ~= column else { return 0 }
              return values[((c / block * rows + row) * width + column) * block + c % block]
            }
            let exact = Derivation.sandwich(derivation.inputTransform, d).flatMap { $0 }
            let isExact = (0..<36).allSatisfy {
              Double(found[($0 * count + t) * 2 * block + c]) == exact[$0].double
            }
            #expect(isExact, "\(set) \(rows)×\(width), tile \(t), channel \(c)")
          }
        }
      }
    }
  }

  @Test(arguments: availableSets) func outputTransformIsExact(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    for (rows, width) in sizes {
      let across = UpsampledTiles.across(width)
      let count = UpsampledTiles.across(rows) * across
      let products = integers(36 * count * block, seed: UInt64(width))
      let bias = integers(block, seed: 4)
      let input = GuardedBuffer(products, at: .end)
      let biases = GuardedBuffer(bias, at: .end)
      for edge in GuardedBuffer.Edge.allCases {
        let output = GuardedBuffer(count: 4 * rows * width * block, at: edge)
        for phase in 0..<4 {
          set.kernels.upsampledOutput(
            UpsampledOutput(
              tiles: UpsampledTiles(rows: rows, width: width, first: 0, count: count), phase: phase,
              products: PointBuffer(input.pointer, stride: count * block),
              output: OutputView(output.pointer, Strides(row: 2 * width * block)),
              epilogue: Epilogue(bias: biases.constant, activation: .relu)))
        }
        let found = output.values
        for t in 0..<count {
          for lane in 0..<block {
            let m = tile { y, x in products[((6 * y + x) * count + t) * block + lane] }
            let exact = Derivation.sandwich(derivation.outputTransform, m)
            for phase in 0..<4 {
              for y in 0..<5 {
                for x in 0..<5 {
                  let row = t / across * 5 - phase / 2 + y
                  let column = t % across * 5 - phase % 2 + x
                  guard 0..<rows ~= row, 0..<width ~= column else { continue }
                  let at =
                    ((2 * row + phase / 2) * 2 * width + 2 * column + phase % 2) * block + lane
                  #expect(Double(found[at]) == max(0, exact[y][x].double + Double(bias[lane])))
                }
              }
            }
          }
        }
      }
    }
  }
}
