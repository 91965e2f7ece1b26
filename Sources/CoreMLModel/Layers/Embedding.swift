import TensorCore

/// out[o] = weights[o, in] + bias[o]; the input holds integers.
package struct Embedding: LayerParameters {
  package var inputDim = 0
  package var outputChannels = 0
  package var hasBias = false
  /// `[outputChannels, inputDim]`
  package var matrix: Weights?
  package var bias: Weights?

  package init() {}

  package static let fields: Fields = [
    .int("inputDim", \.inputDim),
    .int("outputChannels", \.outputChannels),
    .bool("hasBias", \.hasBias),
    .weights("weights", \.matrix) { [$0.outputChannels, $0.inputDim] },
    .weights("bias", \.bias, isNeeded: \.hasBias) { [$0.outputChannels] },
  ]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try input(inputs)
    try require(
      [shape.channels, shape.height, shape.width] == [1, 1, 1],
      "the input has \(try shape.itemCount) values per item; one index is needed", field: "input")
    shape.channels = outputChannels
    return [try shape.checked]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(inputDim > 0, "inputDim", "0")
    faults.require(outputChannels > 0, "outputChannels", "0")
  }
}
