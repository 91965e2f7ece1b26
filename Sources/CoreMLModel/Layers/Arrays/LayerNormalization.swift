import TensorCore

/// γ · (x − μ) / √(σ² + ε) + β over the last axes, whose lengths are `normalizedShape`.
package struct LayerNormalization: LayerParameters {
  package static let typeName = "layerNormalization"
  package static let specificationVersion = 4

  package var normalizedShape: [Int] = []
  /// As it stands, 0 too.
  package var eps: Float = 0
  /// Of shape `normalizedShape`.
  package var gamma: Weights?
  package var beta: Weights?
  package var unknownFields = UnknownFields()

  package init() {}
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
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try ArrayShape.checked(try arrayInput(inputs))
    guard !normalizedShape.isEmpty, shape.suffix(normalizedShape.count) == normalizedShape[...]
    else {
      throw ModelError(
        .malformed, "\(normalizedShape) are not the last axes of the input's \(shape)",
        field: "normalizedShape")
    }
    return [shape]
  }

  package var weights: [NamedWeights] {
    named(("gamma", gamma), ("beta", beta)) { _ in normalizedShape }
  }
}

extension LayerNormalization: CheckedParameters {
  func check(_ faults: inout Faults) {
    faults.require(!normalizedShape.isEmpty, "normalizedShape", "no axes")
    faults.requireWeights(("gamma", gamma), ("beta", beta))
  }
}
