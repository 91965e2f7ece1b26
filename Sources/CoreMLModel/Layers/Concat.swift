import TensorCore

/// Concatenates the inputs along the channels or the sequence.
package struct Concat: LayerParameters {
  package static let inputCount = 2...Int.max

  package var sequenceConcat = false

  package init() {}

  package static let fields: Fields = [.bool("sequenceConcat", \.sequenceConcat)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var result = try input(inputs)
    for shape in inputs.dropFirst() {
      var next = try BlobShape(shape)
      if sequenceConcat {
        result.sequence = try checkedSum([result.sequence, next.sequence], limit: Limits.dimension)
        next.sequence = result.sequence
      } else {
        result.channels = try checkedSum([result.channels, next.channels], limit: Limits.dimension)
        next.channels = result.channels
      }
      try require(
        next.array == result.array,
        "shapes \(inputs) differ in axes other than the concatenated one", field: "input")
    }
    return [try result.checked]
  }
}

/// Splits the channels into equal parts.
package struct Split: LayerParameters {
  package static let outputCount = 2...Int.max

  package var nOutputs = 0

  package init() {}

  package static let fields: Fields = [.int("nOutputs", \.nOutputs)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try input(inputs)
    try require(
      nOutputs > 0 && shape.channels % nOutputs == 0,
      "\(shape.channels) channels cannot be split into \(nOutputs) equal parts", field: "nOutputs")
    shape.channels /= nOutputs
    return Array(repeating: try shape.checked, count: nOutputs)
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(nOutputs > 0, "nOutputs", "0")
  }
}

/// Repeats the sequence.
package struct SequenceRepeat: LayerParameters {
  /// 0 means 1.
  package var nRepetitions = 0

  package init() {}

  package static let fields: Fields = [.int("nRepetitions", \.nRepetitions)]

  package var effectiveRepetitions: Int { nRepetitions == 0 ? 1 : nRepetitions }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try input(inputs)
    shape.sequence = try checkedProduct(
      [shape.sequence, effectiveRepetitions], limit: Limits.dimension)
    return [try shape.checked]
  }
}

/// Moves blocks of pixels into channels, or back.
package struct ReorganizeData: LayerParameters {
  package enum Mode: Int, Sendable, CaseIterable {
    case spaceToDepth = 0
    case depthToSpace = 1
    /// Since specification 5.
    case pixelShuffle = 2
  }

  package var mode = Mode.spaceToDepth
  package var blockSize = 0

  package init() {}

  package static let fields: Fields = [.value("mode", \.mode), .int("blockSize", \.blockSize)]

  package var requiredSpecificationVersion: Int { mode == .pixelShuffle ? 5 : 1 }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try input(inputs)
    try require(blockSize > 1, "\(blockSize) is invalid; it must be at least 2", field: "blockSize")
    let area = try checkedProduct([blockSize, blockSize], limit: Limits.tensorElements)
    switch mode {
    case .spaceToDepth:
      try require(
        shape.height % blockSize == 0 && shape.width % blockSize == 0,
        "\(shape.height) × \(shape.width) is not a multiple of blocks of \(blockSize)",
        field: "blockSize")
      shape.channels = try checkedProduct([shape.channels, area], limit: Limits.dimension)
      shape.height /= blockSize
      shape.width /= blockSize
    case .depthToSpace, .pixelShuffle:
      try require(
        shape.channels % area == 0, "\(shape.channels) channels are not a multiple of \(area)",
        field: "blockSize")
      shape.channels /= area
      shape.height = try checkedProduct([shape.height, blockSize], limit: Limits.dimension)
      shape.width = try checkedProduct([shape.width, blockSize], limit: Limits.dimension)
    }
    return [try shape.checked]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(blockSize > 1, "blockSize", "\(blockSize) is invalid; it must be at least 2")
  }
}

/// A range along one axis; negative indices count from the end.
package struct Slice: LayerParameters {
  package static let minimumRank = 1
  /// The last axis is W, whatever the rank.
  package static let vectorRank = 0

  package enum Axis: Int, Sendable, CaseIterable {
    case channel = 0
    case height = 1
    case width = 2
  }

  package var startIndex = 0
  package var endIndex = 0
  package var stride = 0
  package var axis = Axis.channel

  package init() {}

  package static let fields: Fields = [
    .int("startIndex", \.startIndex),
    .int("endIndex", \.endIndex),
    .int("stride", \.stride),
    .value("axis", \.axis),
  ]

  package var effectiveStride: Int { stride == 0 ? 1 : stride }

  /// The range along an axis of `extent` elements. Negative indices count from its end; an end past
  /// the axis means its end.
  package func range(extent: Int) throws -> Range<Int> {
    func resolve(_ index: Int, _ field: String) throws -> Int {
      let position = index < 0 ? index.addingReportingOverflow(extent).partialValue : index
      try require(
        position >= 0 && position <= extent, "\(index) is outside an axis of length \(extent)",
        field: field)
      return position
    }
    let start = try resolve(startIndex, "startIndex")
    let end = try resolve(min(endIndex, extent), "endIndex")
    try require(
      start < end, "\(startIndex) to \(endIndex) is empty on an axis of \(extent)",
      field: "endIndex")
    return start..<end
  }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try input(inputs)
    try require(effectiveStride > 0, "\(stride) is not a valid stride", field: "stride")
    func length(_ extent: Int) throws -> Int {
      (try range(extent: extent).count - 1) / effectiveStride + 1
    }
    switch axis {
    case .channel: shape.channels = try length(shape.channels)
    case .height: shape.height = try length(shape.height)
    case .width: shape.width = try length(shape.width)
    }
    return [try shape.checked]
  }

  package func check(_ faults: inout ValidationIssues) {
    let haveOneSign = (startIndex < 0) == (endIndex < 0)
    faults.require(
      !haveOneSign || startIndex < endIndex, "endIndex", "\(startIndex) to \(endIndex) is empty")
    faults.require(stride > 0, "stride", "\(stride) is not a valid stride")
  }
}
