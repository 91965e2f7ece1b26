import TensorCore

/// Axis `i` of the output is axis `axes[i]` of the input.
package struct Transpose: LayerParameters {
  package static let typeName = "transpose"
  package static let specificationVersion = 4

  package var axes: [Int] = []
  package var unknownFields = UnknownFields()

  package init() {}
}

extension Transpose: EncodedMessage {
  static let fields: [Field<Self>] = [.ints("axes", \.axes)]
}

extension Transpose {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    guard axes.sorted() == Array(shape.indices) else {
      throw ModelError(
        .malformed, "\(axes) is no order of the axes 0 to \(shape.count - 1)", field: "axes")
    }
    return [try ArrayShape.checked(axes.map { shape[$0] })]
  }
}
