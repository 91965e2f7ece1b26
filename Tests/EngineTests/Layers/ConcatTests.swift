import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import Engine

extension Concat: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    var sequence = Concat()
    sequence.sequenceConcat = true
    let sizes = [[5, 3], [8, 8, 16], [16, 1, 17]]
    return sizes.map { channels in
      LayerTrial("channels \(channels)", Concat(), channels.map { [2, 3, $0, 3, 5] })
    }
      + sizes.map { steps in
        LayerTrial("steps \(steps)", sequence, steps.map { [$0, 2, 5, 1, 2] })
      }
  }
}

extension Split: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [(2, 16), (3, 5), (2, 17)].map { count, channels in
      var layer = Split()
      layer.nOutputs = count
      return LayerTrial("\(count) × \(channels)", layer, [[2, 2, count * channels, 3, 5]])
    }
  }
}

extension SequenceRepeat: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [0, 1, 4].flatMap { count in
      [[1, 1, 5, 1, 1], [3, 2, 17, 2, 3]].map { shape in
        var layer = SequenceRepeat()
        layer.nRepetitions = count
        return LayerTrial("\(shape), \(count) times", layer, [shape])
      }
    }
  }
}

extension ReorganizeData: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    Mode.allCases.flatMap { mode in
      [2, 3].flatMap { size in
        [1, 5, 16].map { channels in
          var layer = ReorganizeData()
          layer.mode = mode
          layer.blockSize = size
          let shape =
            mode == .spaceToDepth
            ? [2, 2, channels, 2 * size, 3 * size] : [2, 2, channels * size * size, 2, 3]
          return LayerTrial("\(mode) of \(shape) by \(size)", layer, [shape])
        }
      }
    }
  }
}

extension Slice: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let ranges = [(0, 3, 1), (1, 7, 2), (-5, -1, 1), (2, -2, 3), (-7, -1, 2)]
    return Axis.allCases.flatMap { axis in
      [[1, 1, 9, 8, 7], [2, 3, 33, 8, 9]].flatMap { shape in
        ranges.map { start, end, stride in
          var layer = Slice()
          layer.axis = axis
          layer.startIndex = start
          layer.endIndex = end
          layer.stride = stride
          return LayerTrial("\(axis) \(start)..<\(end) by \(stride) of \(shape)", layer, [shape])
        }
      }
    }
  }
}

@Suite struct SliceTests {
  /// NumPy's x[1:7:2] and x[1:3] of x = 0, 1, 2, …: W is the last axis, H the one before it.
  @Test func fewAxes() throws {
    func check(
      _ shape: [Int], _ axis: Slice.Axis, _ range: Range<Int>, _ stride: Int, _ expected: Tensor
    ) throws {
      var layer = Slice()
      (layer.axis, layer.stride) = (axis, stride)
      (layer.startIndex, layer.endIndex) = (range.lowerBound, range.upperBound)
      let model = TestNetwork.exactModel([shape], [TestNetwork.layer("out", layer, "in0", "out")])
      let input = Tensor(shape: shape, (0..<shape.reduce(1, *)).map { Float($0) })
      #expect(try CompiledNetwork(model: model).predict(["in0": input])["out"] == expected)
      let twin = try ReferenceNetwork(model: model).predict(["in0": ReferenceTensor(input)])
      #expect(twin["out"]?.tensor == expected)
    }
    try check([9], .width, 1..<7, 2, Tensor(shape: [3], [1, 3, 5]))
    try check([2, 4], .width, 1..<3, 1, Tensor(shape: [2, 2], [1, 2, 5, 6]))
    try check([4, 2], .height, 1..<3, 1, Tensor(shape: [2, 2], [2, 3, 4, 5]))
    try check([4, 1, 2], .channel, 1..<3, 1, Tensor(shape: [2, 1, 2], [2, 3, 4, 5]))
  }
}
