import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import Engine

extension ReverseSeq: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], Int, Int)] = [
      ([2, 4], 0, 1), ([3, 5, 2], 0, 1), ([3, 5, 7], 0, 2), ([2, 3, 4, 17], 1, -1),
      ([2, 3, 4, 5, 2], -4, -2),
    ]
    return cases.map { shape, batch, sequence in
      var layer = ReverseSeq()
      (layer.batchAxis, layer.sequenceAxis) = (batch, sequence)
      let count = shape[batch < 0 ? batch + shape.count : batch]
      let longest = shape[sequence < 0 ? sequence + shape.count : sequence]
      let lengths = (0..<count).map { _ in Float(random.number(-1...longest + 1)) }
      return LayerTrial(
        "\(shape), batch \(batch), sequence \(sequence)", layer, [shape, [count]],
        values: [1: lengths])
    }
  }
}

@Suite struct ReverseSeqTests {
  /// The two examples of the specification.
  @Test func examples() throws {
    var layer = ReverseSeq()
    layer.sequenceAxis = 1
    var input = ReferenceTensor(shape: [2, 4], [0, 1, 2, 3, 4, 5, 6, 7])
    var lengths = ReferenceTensor(shape: [2], [3, 0])
    #expect(
      try layer.referenceOutputs([input, lengths])[0].elements == [2, 1, 0, 3, 4, 5, 6, 7])
    input = ReferenceTensor(shape: [2, 3, 2], (0..<12).map(Double.init))
    lengths = ReferenceTensor(shape: [2], [2, 3])
    #expect(
      try layer.referenceOutputs([input, lengths])[0].elements
        == [2, 3, 0, 1, 4, 5, 10, 11, 8, 9, 6, 7])
  }
}
