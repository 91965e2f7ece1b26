import TensorCore

/// out[o] = weights[o, in] + bias[o]; the input holds whole numbers.
public struct Embedding: LayerParameters {
  public static let typeName = "embedding"

  public var inputDim = 0
  public var outputChannels = 0
  public var hasBias = false
  /// `[outputChannels, inputDim]`
  public var matrix: Weights?
  public var bias: Weights?
  public var unknownFields = UnknownFields()

  public init() {}
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
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try input(inputs)
    guard [shape.channels, shape.height, shape.width] == [1, 1, 1] else {
      throw ModelError(
        .malformed, "the input has \(try shape.itemCount) values an item, one index is needed",
        field: "input")
    }
    shape.channels = outputChannels
    return [try shape.checked]
  }

  public var weights: [NamedWeights] {
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
