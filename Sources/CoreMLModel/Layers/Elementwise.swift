import TensorCore

/// The sum of the inputs; with one input, x + alpha.
package struct Add: LayerParameters {
  package static let typeName = "add"
  package static let minimumRank = 1
  package static let inputCount = 1...Int.max

  package var alpha: Float = 0
  package var unknownFields = UnknownFields()

  package init() {}
}

/// The product of the inputs; with one input, x · alpha.
package struct Multiply: LayerParameters {
  package static let typeName = "multiply"
  package static let minimumRank = 1
  package static let inputCount = 1...Int.max

  package var alpha: Float = 0
  package var unknownFields = UnknownFields()

  package init() {}
}

/// The mean of the inputs.
package struct Average: LayerParameters {
  package static let typeName = "average"
  package static let minimumRank = 1
  package static let inputCount = 1...Int.max

  package var unknownFields = UnknownFields()

  package init() {}
}

/// The largest of the inputs.
package struct Max: LayerParameters {
  package static let typeName = "max"
  package static let minimumRank = 1
  package static let inputCount = 1...Int.max

  package var unknownFields = UnknownFields()

  package init() {}
}

/// The smallest of the inputs.
package struct Min: LayerParameters {
  package static let typeName = "min"
  package static let minimumRank = 1
  package static let inputCount = 1...Int.max

  package var unknownFields = UnknownFields()

  package init() {}
}

/// Σ over the channels of the product of two inputs, or the cosine of the angle between them.
package struct DotProduct: LayerParameters {
  package static let typeName = "dot"
  package static let inputCount = 2...2

  package var cosineSimilarity = false
  package var unknownFields = UnknownFields()

  package init() {}
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
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try broadcast(inputs) }
}

extension Multiply {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try broadcast(inputs) }
}

extension Average {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try broadcast(inputs) }
}

extension Max {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try broadcast(inputs) }
}

extension Min {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try broadcast(inputs) }
}

extension DotProduct {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try BlobShape(try equal(inputs)[0])
    shape.channels = 1
    return [shape.array]
  }

  package func multiplyAdds(_ inputs: [[Int]], _ outputs: [[Int]]) -> Int {
    MultiplyAdds.product(inputs.first, [])
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
