/// exp(x − max) / Σ exp(x − max) along an axis.
public struct SoftmaxND: LayerParameters {
  public static let typeName = "softmaxND"
  public static let specificationVersion = 4

  /// May count from the end.
  public var axis = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

extension SoftmaxND: EncodedMessage {
  static let fields: [Field<Self>] = [.int("axis", \.axis)]
}

extension SoftmaxND {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try ArrayShape.checked(try arrayInput(inputs))
    _ = try ArrayShape.axis(axis, rank: shape.count)
    return [shape]
  }
}
