import TensorCore

/// A function of the elements of one or more inputs at the same position. Inputs may have any rank.
package protocol ElementwiseLayer: LayerParameters {}

extension ElementwiseLayer {
  package static var minimumRank: Int { 0 }
  package static var inputCount: ClosedRange<Int> { 1...Int.max }

  /// The shape to which all inputs are broadcast, as in NumPy.
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try requireInputs(inputs)
    return [try checkedShape(try ArrayShape.broadcast(inputs))]
  }
}

/// The sum of the inputs; with one input, x + alpha.
package struct Add: ElementwiseLayer {
  package var alpha: Float = 0

  package init() {}

  package static let fields: Fields = [.float("alpha", \.alpha)]
}

/// The product of the inputs; with one input, x · alpha.
package struct Multiply: ElementwiseLayer {
  package var alpha: Float = 0

  package init() {}

  package static let fields: Fields = [.float("alpha", \.alpha)]
}

/// The mean of the inputs.
package struct Average: ElementwiseLayer, ParameterlessLayer { package init() {} }

/// The largest of the inputs.
package struct Max: ElementwiseLayer, ParameterlessLayer { package init() {} }

/// The smallest of the inputs.
package struct Min: ElementwiseLayer, ParameterlessLayer { package init() {} }

/// Σ over the channels of the product of two inputs, or the cosine of the angle between them.
package struct DotProduct: LayerParameters {
  package static let typeName = "dot"
  package static let inputCount = 2...2

  package var cosineSimilarity = false

  package init() {}

  package static let fields: Fields = [.bool("cosineSimilarity", \.cosineSimilarity)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try input(inputs)
    let first = try shape.checked
    try require(
      inputs.allSatisfy({ $0 == first }), "the inputs' shapes differ: \(inputs)", field: "input")
    shape.channels = 1
    return [shape.array]
  }

  package func multiplyAdds(_ inputs: [[Int]], _ outputs: [[Int]]) -> Int {
    MultiplyAdds.product(inputs.first, [])
  }
}
