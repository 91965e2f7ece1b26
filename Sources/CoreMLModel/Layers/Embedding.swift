import TensorCore

/// out[o] = weights[o, in] + bias[o]; the input holds whole numbers.
package struct Embedding: LayerParameters {
  package static let typeName = "embedding"

  package var inputDim = 0
  package var outputChannels = 0
  package var hasBias = false
  /// `[outputChannels, inputDim]`
  package var matrix: Weights?
  package var bias: Weights?
  package var unknownFields = UnknownFields()

  package init() {}
}

extension Embedding: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("inputDim", \.inputDim),
    .int("outputChannels", \.outputChannels),
    .bool("hasBias", \.hasBias),
    .message("weights", \.matrix),
    .message("bias", \.bias),
  ]
}

extension Embedding {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try input(inputs)
    guard [shape.channels, shape.height, shape.width] == [1, 1, 1] else {
      throw ModelError(
        .malformed, "the input has \(try shape.itemCount) values an item, one index is needed",
        field: "input")
    }
    shape.channels = outputChannels
    return [try shape.checked]
  }

  package var weights: [NamedWeights] {
    named(("weights", matrix), ("bias", bias)) {
      $0 == "bias" ? [outputChannels] : [outputChannels, inputDim]
    }
  }
}

extension Embedding: CheckedParameters {
  func check(_ faults: inout Faults) {
    faults.require(inputDim > 0, "inputDim", "0")
    faults.require(outputChannels > 0, "outputChannels", "0")
    faults.requireWeights(("weights", matrix), ("bias", bias, hasBias))
  }
}
