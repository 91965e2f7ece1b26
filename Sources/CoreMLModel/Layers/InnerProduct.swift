import TensorCore

/// out[o] = bias[o] + Σ weights[o, i] · in[i], over the flattened C, H, W of each item.
package struct InnerProduct: LayerParameters {
  package static let minimumRank = 1
  package static let vectorRank = 3

  package var inputChannels = 0
  package var outputChannels = 0
  package var hasBias = false
  /// `[outputChannels, inputChannels]`
  package var matrix: Weights?
  package var bias: Weights?
  package var int8DynamicQuantize = false

  package init() {}

  package static let fields: Fields = [
    .int("inputChannels", \.inputChannels),
    .int("outputChannels", \.outputChannels),
    .bool("hasBias", \.hasBias),
    .weights("weights", \.matrix) { [$0.outputChannels, $0.inputChannels] },
    .weights("bias", \.bias, isNeeded: \.hasBias) { [$0.outputChannels] },
    .bool("int8DynamicQuantize", \.int8DynamicQuantize),
  ]

  package var requiredSpecificationVersion: Int { int8DynamicQuantize ? 5 : 1 }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try input(inputs)
    let count = try shape.itemCount
    try require(
      count == inputChannels,
      "the input has \(count) values per item (\(shape.channels) × \(shape.height) × "
        + "\(shape.width)), not \(inputChannels)", field: "inputChannels")
    shape.channels = outputChannels
    return [try shape.resized(1, 1).checked]
  }

  package func multiplyAdds(_ inputs: [[Int]], _ outputs: [[Int]]) -> Int {
    MultiplyAdds.product(outputs.first, [inputChannels])
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(inputChannels > 0, "inputChannels", "0")
    faults.require(outputChannels > 0, "outputChannels", "0")
    if int8DynamicQuantize { faults.requireDynamicCodes(matrix) }
  }
}
