import TensorCore

/// The elements of each matrix between two diagonals, zeros elsewhere.
public struct MatrixBandPart: LayerParameters {
  public static let typeName = "matrixBandPart"
  public static let specificationVersion = 4
  public static let minimumRank = 2

  /// Diagonals below the main one that stay; a negative number keeps all.
  public var numLower = 0
  /// The same above.
  public var numUpper = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// The elements of each matrix at and below diagonal k, zeros elsewhere.
public struct LowerTriangular: LayerParameters {
  public static let typeName = "lowerTriangular"
  public static let specificationVersion = 4
  public static let minimumRank = 2

  /// 0 is the main diagonal, positive ones are above it.
  public var k = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// The elements of each matrix at and above diagonal k, zeros elsewhere.
public struct UpperTriangular: LayerParameters {
  public static let typeName = "upperTriangular"
  public static let specificationVersion = 4
  public static let minimumRank = 2

  /// 0 is the main diagonal, positive ones are above it.
  public var k = 0
  public var unknownFields = UnknownFields()

  public init() {}
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
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try matrices(inputs) }
}

extension LowerTriangular {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try matrices(inputs) }
}

extension UpperTriangular {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try matrices(inputs) }
}
