import TensorCore

/// The sum of the inputs; with one input, x + alpha.
public struct Add: LayerParameters {
  public static let typeName = "add"
  public static let minimumRank = 1
  public static let inputCount = 1...Int.max

  public var alpha: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// The product of the inputs; with one input, x · alpha.
public struct Multiply: LayerParameters {
  public static let typeName = "multiply"
  public static let minimumRank = 1
  public static let inputCount = 1...Int.max

  public var alpha: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// The mean of the inputs.
public struct Average: LayerParameters {
  public static let typeName = "average"
  public static let minimumRank = 1
  public static let inputCount = 1...Int.max

  public var unknownFields = UnknownFields()

  public init() {}
}

/// The largest of the inputs.
public struct Max: LayerParameters {
  public static let typeName = "max"
  public static let minimumRank = 1
  public static let inputCount = 1...Int.max

  public var unknownFields = UnknownFields()

  public init() {}
}

/// The smallest of the inputs.
public struct Min: LayerParameters {
  public static let typeName = "min"
  public static let minimumRank = 1
  public static let inputCount = 1...Int.max

  public var unknownFields = UnknownFields()

  public init() {}
}

/// Σ over the channels of the product of two inputs, or the cosine of the angle between them.
public struct DotProduct: LayerParameters {
  public static let typeName = "dot"
  public static let inputCount = 2...2

  public var cosineSimilarity = false
  public var unknownFields = UnknownFields()

  public init() {}
}

extension Add: EncodedMessage {
  static let fields: [Field<Self>] = [
    .float("alpha", \.alpha)
  ]
}

extension Multiply: EncodedMessage {
  static let fields: [Field<Self>] = [
    .float("alpha", \.alpha)
  ]
}

extension Average: EncodedMessage {
  static let fields: [Field<Self>] = []
}

extension Max: EncodedMessage {
  static let fields: [Field<Self>] = []
}

extension Min: EncodedMessage {
  static let fields: [Field<Self>] = []
}

extension DotProduct: EncodedMessage {
  static let fields: [Field<Self>] = [
    .bool("cosineSimilarity", \.cosineSimilarity)
  ]
}

extension Add {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try broadcast(inputs) }
}

extension Multiply {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try broadcast(inputs) }
}

extension Average {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try broadcast(inputs) }
}

extension Max {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try broadcast(inputs) }
}

extension Min {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try broadcast(inputs) }
}

extension DotProduct {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try BlobShape(try equal(inputs)[0])
    shape.channels = 1
    return [shape.array]
  }
}

extension LayerParameters {
  /// The shape that all inputs stretch to: along each axis they have one size, or that and 1.
  fileprivate func broadcast(_ inputs: [[Int]]) throws -> [[Int]] {
    var result = try input(inputs).array
    for shape in inputs.dropFirst() {
      let next = try BlobShape(shape).array
      for axis in result.indices where next[axis] != result[axis] {
        guard next[axis] == 1 || result[axis] == 1 else {
          throw ModelError(
            .malformed, "shapes \(inputs) do not stretch to a common one", field: "input")
        }
        result[axis] = max(result[axis], next[axis])
      }
    }
    return [try BlobShape(result).checked]
  }

  /// The one shape that all inputs have.
  fileprivate func equal(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try input(inputs).checked
    guard inputs.allSatisfy({ $0 == shape }) else {
      throw ModelError(.malformed, "the inputs' shapes differ: \(inputs)", field: "input")
    }
    return [shape]
  }
}
