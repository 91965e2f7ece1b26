import TensorCore

/// The elements of each matrix between two diagonals, zeros elsewhere.
package struct MatrixBandPart: ArrayLayer {
  package static let minimumRank = 2

  /// Diagonals below the main one that stay; a negative number keeps all.
  package var numLower = 0
  /// The same above.
  package var numUpper = 0
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .int("numLower", \.numLower),
    .int("numUpper", \.numUpper),
  ]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try matrices(inputs) }
}

/// The elements of each matrix at and below diagonal k, zeros elsewhere.
package struct LowerTriangular: ArrayLayer {
  package static let minimumRank = 2

  /// 0 is the main diagonal, positive ones are above it.
  package var k = 0
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.int("k", \.k)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try matrices(inputs) }
}

/// The elements of each matrix at and above diagonal k, zeros elsewhere.
package struct UpperTriangular: ArrayLayer {
  package static let minimumRank = 2

  /// 0 is the main diagonal, positive ones are above it.
  package var k = 0
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.int("k", \.k)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try matrices(inputs) }
}

extension LayerParameters {
  fileprivate func matrices(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try ArrayShape.checked(try arrayInput(inputs))
    try require(
      shape.count > 1, "a vector, where matrices are needed", field: "input")
    return [shape]
  }
}
