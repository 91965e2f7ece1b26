import TensorCore

/// out[o] = bias[o] + Σ weights[o, i] · in[i], over the flattened C, H, W of each item.
public struct InnerProduct: LayerParameters {
  public static let typeName = "innerProduct"
  public static let minimumRank = 1
  public static let vectorRank = 3

  public var inputChannels = 0
  public var outputChannels = 0
  public var hasBias = false
  /// `[outputChannels, inputChannels]`
  public var matrix: Weights?
  public var bias: Weights?
  public var int8DynamicQuantize = false
  public var unknownFields = UnknownFields()

  public init() {}
}

extension InnerProduct: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("inputChannels", \.inputChannels),
    .int("outputChannels", \.outputChannels),
    .bool("hasBias", \.hasBias),
    .message("weights", \.matrix),
    .message("bias", \.bias),
    .bool("int8DynamicQuantize", \.int8DynamicQuantize),
  ]
}

extension InnerProduct {
  public var requiredSpecificationVersion: Int {
    int8DynamicQuantize ? 5 : 1
  }

  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try input(inputs)
    let count = try shape.itemCount
    guard count == inputChannels else {
      throw ModelError(
        .malformed,
        "the input has \(count) values an item (\(shape.channels) × \(shape.height) × "
          + "\(shape.width)), not \(inputChannels)", field: "inputChannels")
    }
    shape.channels = outputChannels
    shape.height = 1
    shape.width = 1
    return [try shape.checked]
  }

  public var weights: [NamedWeights] {
    named(("weights", matrix), ("bias", bias)) {
      $0 == "bias" ? [outputChannels] : [outputChannels, inputChannels]
    }
  }
}

extension InnerProduct: CheckedParameters {
  func check(_ faults: inout Faults) {
    faults.require(inputChannels > 0, "inputChannels", "0")
    faults.require(outputChannels > 0, "outputChannels", "0")
    faults.requireWeights(("weights", matrix), ("bias", bias, hasBias))
  }
}
