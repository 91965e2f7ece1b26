import TensorCore

/// Keeps the elements of each matrix between two diagonals and zeros the rest.
package protocol MatrixBandLayer: ArrayLayer {
  /// The diagonals to keep, as column − row; nil keeps all diagonals on that side.
  var diagonals: (lowest: Int?, highest: Int?) { get }
}

extension MatrixBandLayer {
  package static var minimumRank: Int { 2 }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try ArrayShape.checked(try arrayInput(inputs))
    try require(shape.count > 1, "the input is a vector; matrices are needed", field: "input")
    return [shape]
  }
}

/// The elements between two diagonals.
package struct MatrixBandPart: MatrixBandLayer {
  /// The number of diagonals to keep below the main one; a negative number keeps all.
  package var numLower = 0
  /// The number of diagonals to keep above the main one; a negative number keeps all.
  package var numUpper = 0

  package init() {}

  package static let fields: Fields = [.int("numLower", \.numLower), .int("numUpper", \.numUpper)]

  package var diagonals: (lowest: Int?, highest: Int?) {
    (numLower < 0 ? nil : -numLower, numUpper < 0 ? nil : numUpper)
  }
}

/// The elements at and below diagonal k.
package struct LowerTriangular: MatrixBandLayer {
  /// 0 is the main diagonal; positive values are above it.
  package var k = 0

  package init() {}

  package static let fields: Fields = [.int("k", \.k)]

  package var diagonals: (lowest: Int?, highest: Int?) { (nil, k) }
}

/// The elements at and above diagonal k.
package struct UpperTriangular: MatrixBandLayer {
  /// 0 is the main diagonal; positive values are above it.
  package var k = 0

  package init() {}

  package static let fields: Fields = [.int("k", \.k)]

  package var diagonals: (lowest: Int?, highest: Int?) { (k, nil) }
}
