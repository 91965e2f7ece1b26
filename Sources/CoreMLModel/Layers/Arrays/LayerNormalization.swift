import TensorCore

/// γ · (x − μ) / √(σ² + ε) + β over the last axes, whose lengths are `normalizedShape`.
public struct LayerNormalization: LayerParameters {
  public static let typeName = "layerNormalization"
  public static let specificationVersion = 4

  public var normalizedShape: [Int] = []
  /// As it stands, 0 too.
  public var eps: Float = 0
  /// Of shape `normalizedShape`.
  public var gamma: Weights?
  public var beta: Weights?
  public var unknownFields = UnknownFields()

  public init() {}
}

extension LayerNormalization: EncodedMessage {
  static let fields: [Field<Self>] = [
    .ints("normalizedShape", \.normalizedShape),
    .float("eps", \.eps),
    .message("gamma", \.gamma),
    .message("beta", \.beta),
  ]
}

extension LayerNormalization {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try ArrayShape.checked(try arrayInput(inputs))
    guard !normalizedShape.isEmpty, shape.suffix(normalizedShape.count) == normalizedShape[...]
    else {
      throw ModelError(
        .malformed, "\(normalizedShape) are not the last axes of the input's \(shape)",
        field: "normalizedShape")
    }
    return [shape]
  }

  public var weights: [NamedWeights] {
    named(("gamma", gamma), ("beta", beta)) { _ in normalizedShape }
  }
}

extension LayerNormalization: CheckedParameters {
  func check(_ faults: inout Faults) {
    faults.require(!normalizedShape.isEmpty, "normalizedShape", "no axes")
    faults.requireWeights(("gamma", gamma), ("beta", beta))
  }
}
