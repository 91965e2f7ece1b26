/// exp(x − max) / Σ exp(x − max) along an axis.
package struct SoftmaxND: LayerParameters {
  package static let typeName = "softmaxND"
  package static let specificationVersion = 4

  /// May count from the end.
  package var axis = 0
  package var unknownFields = UnknownFields()

  package init() {}
}

extension SoftmaxND: EncodedMessage {
  static let fields: [Field<Self>] = [.int("axis", \.axis)]
}

extension SoftmaxND {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try ArrayShape.checked(try arrayInput(inputs))
    _ = try ArrayShape.axis(axis, rank: shape.count)
    return [shape]
  }
}
