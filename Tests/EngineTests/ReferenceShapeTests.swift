import CoreMLModel
import TensorCore
import Testing

@testable import Engine

@Suite struct ReferenceShapeTests {
  @Test func crop() throws {
    var layer = Crop()
    layer.cropAmounts = BorderAmounts(top: 1, bottom: 2, left: 3, right: 0)
    try Goldens("crop").check(layer, ["input"], ["amounts"])
    layer.offset = [2, 4]
    try Goldens("crop").check(layer, ["input", "like"], ["offset"])
  }

  @Test func padding() throws {
    var layer = Padding()
    layer.paddingAmounts = BorderAmounts(top: 2, bottom: 1, left: 0, right: 3)
    for (name, kind): (String, Padding.Kind) in [
      ("constant", .constant(value: 1.5)), ("reflection", .reflection),
      ("replication", .replication),
    ] {
      layer.kind = kind
      try Goldens("padding").check(layer, ["input"], [name])
    }
  }

  @Test func reshape() throws {
    let golden = Goldens("reshape")
    var layer = Reshape()
    layer.targetShape = [6, 4, 1]
    try golden.check(layer, ["input"], ["first"])
    layer.mode = .channelLast
    try golden.check(layer, ["input"], ["last"])
    layer.targetShape = [6, 2, 2, 3]
    try golden.check(layer, ["input"], ["sequence_last"])
    layer.mode = .channelFirst
    try golden.check(layer, ["input"], ["sequence_first"])
    var flatten = Flatten()
    try golden.check(flatten, ["input"], ["flatten_first"])
    flatten.mode = .channelLast
    try golden.check(flatten, ["input"], ["flatten_last"])
  }

  @Test func permute() throws {
    var layer = Permute()
    for (name, axis) in [
      ("p0312", [0, 3, 1, 2]), ("p3120", [3, 1, 2, 0]), ("p2103", [2, 1, 0, 3]), ("input", []),
    ] {
      layer.axis = axis
      try Goldens("permute").check(layer, ["input"], [name])
    }
  }

  @Test func concatAndSplit() throws {
    let golden = Goldens("concat")
    var concat = Concat()
    try golden.check(concat, ["input", "a", "input"], ["channels"])
    concat.sequenceConcat = true
    try golden.check(concat, ["input", "b"], ["sequence"])
    var split = Split()
    split.nOutputs = 2
    try golden.check(split, ["input"], ["first", "second"])
    var repeated = SequenceRepeat()
    repeated.nRepetitions = 3
    try golden.check(repeated, ["input"], ["repeated"])
  }

  @Test func slice() throws {
    var layer = Slice()
    for (name, axis, start, end, stride) in [
      ("channel", Slice.Axis.channel, 1, 4, 2), ("height", .height, -2, -1, 1),
      ("width", .width, 0, 3, 2),
    ] {
      layer.axis = axis
      layer.startIndex = start
      layer.endIndex = end
      layer.stride = stride
      try Goldens("slice").check(layer, ["input"], [name])
    }
  }

  @Test func reorganize() throws {
    var layer = ReorganizeData()
    layer.blockSize = 2
    for (name, mode) in [
      ("depth_to_space", ReorganizeData.Mode.depthToSpace), ("space_to_depth", .spaceToDepth),
      ("pixel_shuffle", .pixelShuffle),
    ] {
      layer.mode = mode
      try Goldens("reorganize").check(layer, ["input"], [name])
    }
  }

  // The specification's example, [C = 8, H = 1, W = 2].
  @Test func reorganizeExample() throws {
    let input = ReferenceTensor(shape: [1, 1, 8, 1, 2], (1...16).map(Double.init))
    var layer = ReorganizeData()
    layer.blockSize = 2
    layer.mode = .depthToSpace
    #expect(
      try layer.referenceOutputs([input], ReferenceSettings())[0].elements
        == [1, 5, 2, 6, 9, 13, 10, 14, 3, 7, 4, 8, 11, 15, 12, 16])
    layer.mode = .pixelShuffle
    #expect(
      try layer.referenceOutputs([input], ReferenceSettings())[0].elements
        == [1, 3, 2, 4, 5, 7, 6, 8, 9, 11, 10, 12, 13, 15, 14, 16])
  }

  @Test(arguments: Reduce.Operation.allCases)
  func reduce(operation: Reduce.Operation) throws {
    var layer = Reduce()
    layer.mode = operation
    layer.epsilon = 0.5
    for axis in Reduce.Axis.allCases where operation != .argmax || axis.rawValue > 1 {
      layer.axis = axis
      try Goldens("reduce").check(
        layer, [operation == .logsum ? "positive" : "input"], ["\(operation)_\(axis)"])
    }
  }
}
