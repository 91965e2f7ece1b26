import TensorCore

/// Axis `i` of the output is axis `axes[i]` of the input.
public struct Transpose: LayerParameters {
  public static let typeName = "transpose"
  public static let specificationVersion = 4

  public var axes: [Int] = []
  public var unknownFields = UnknownFields()

  public init() {}
}

extension Transpose: EncodedMessage {
  static let fields: [Field<Self>] = [.ints("axes", \.axes)]
}

extension Transpose {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    guard axes.sorted() == Array(shape.indices) else {
      throw ModelError(
        .malformed, "\(axes) is no order of the axes 0 to \(shape.count - 1)", field: "axes")
    }
    return [try ArrayShape.checked(axes.map { shape[$0] })]
  }
}
