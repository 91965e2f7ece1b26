import TensorCore
import TestSupport
import Testing

@testable import Verification

@Suite struct SimilarityPairingTests {
  private static func noise(_ seed: UInt64, _ shape: [Int]) -> Tensor {
    var generator = SplitMix64(seed: seed)
    return Tensor(
      shape: shape,
      (0..<shape.reduce(1, *)).map { _ in Float.random(in: -1...1, using: &generator) })
  }

  /// Five blobs of one shape, of which the framework lacks the second: each array is paired with
  /// the blob that it resembles, even with an error of 0.1. The last blob has no partner.
  @Test func arraysPairInOrder() {
    let blobs = (0..<5).map { Self.noise(UInt64($0), [1, 4, 8]) }
    let error = Self.noise(9, [4, 8])
    let wrong = Tensor(
      shape: [4, 8], zip(blobs[2].elements, error.elements).map { $0 + 0.1 * $1 })
    let pairing = SimilarityPairing(
      expected: [blobs[0], wrong, blobs[3], Self.noise(7, [1, 4, 8])], actual: blobs)
    #expect(pairing.pairs.map { [$0.expected, $0.actual] } == [[0, 0], [1, 2], [2, 3]])
  }

  /// Equal values in other shapes, or in an order that a network cannot have, are not paired.
  @Test func shapeAndOrderCount() {
    let (a, b) = (Tensor(shape: [6], [1, 2, 3, 0, 0, 0]), Tensor(shape: [6], [0, 0, 0, 3, 1, 2]))
    #expect(SimilarityPairing(expected: [a.reshaped([2, 3])], actual: [a]).pairs.isEmpty)
    #expect(SimilarityPairing(expected: [b, a], actual: [a, b]).pairs.count == 1)
    let nothing = Tensor(shape: [3], [.nan, 0, 0])
    #expect(SimilarityPairing(expected: [nothing], actual: [nothing]).pairs.isEmpty)
  }

  @Test func namesThatAreUnknownArePaired() throws {
    let (a, b) = (Self.noise(1, [6]), Self.noise(2, [6]))
    let comparison = BlobComparison(
      order: ["x", "y"], actual: ["x": a, "y": b],
      expected: [("framework:0", a), ("y", b), ("other", Self.noise(3, [5]))],
      tolerances: Tolerances())
    #expect(comparison.blobs.map(\.name) == ["x", "y"])
    #expect(comparison.blobs.map(\.agrees) == [true, true])
    #expect(comparison.similar.map(\.expected) == ["framework:0"])
    #expect(comparison.similar.map(\.blob) == ["x"])
    #expect(comparison.unknown == ["other"])
  }
}
