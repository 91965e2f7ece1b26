import TensorCore

/// The elements of each matrix between two diagonals, zeros elsewhere.
package struct MatrixBandPart: LayerParameters {
  package static let typeName = "matrixBandPart"
  package static let specificationVersion = 4
  package static let minimumRank = 2

  /// Diagonals below the main one that stay; a negative number keeps all.
  package var numLower = 0
  /// The same above.
  package var numUpper = 0
  package var unknownFields = UnknownFields()

  package init() {}
}

/// The elements of each matrix at and below diagonal k, zeros elsewhere.
package struct LowerTriangular: LayerParameters {
  package static let typeName = "lowerTriangular"
  package static let specificationVersion = 4
  package static let minimumRank = 2

  /// 0 is the main diagonal, positive ones are above it.
  package var k = 0
  package var unknownFields = UnknownFields()

  package init() {}
}

/// The elements of each matrix at and above diagonal k, zeros elsewhere.
package struct UpperTriangular: LayerParameters {
  package static let typeName = "upperTriangular"
  package static let specificationVersion = 4
  package static let minimumRank = 2

  /// 0 is the main diagonal, positive ones are above it.
  package var k = 0
  package var unknownFields = UnknownFields()

  package init() {}
}

extension MatrixBandPart: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("numLower", \.numLower),
    .int("numUpper", \.numUpper),
  ]
}

extension LowerTriangular: EncodedMessage {
  static let fields: [Field<Self>] = [.int("k", \.k)]
}

extension UpperTriangular: EncodedMessage {
  static let fields: [Field<Self>] = [.int("k", \.k)]
}

extension LayerParameters {
  fileprivate func matrices(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try ArrayShape.checked(try arrayInput(inputs))
    guard shape.count > 1 else {
      throw ModelError(.malformed, "a vector, where matrices are needed", field: "input")
    }
    return [shape]
  }
}

extension MatrixBandPart {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try matrices(inputs) }
}

extension LowerTriangular {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try matrices(inputs) }
}

extension UpperTriangular {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try matrices(inputs) }
}
