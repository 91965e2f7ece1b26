import TensorCore

/// A layer whose output sizes depend on values of its inputs. Once these are known, it resolves to
/// a layer of fixed sizes.
package protocol DynamicLayer: LayerParameters {
  /// Whether the output sizes depend on the values, not only on the shapes.
  static var sizesDependOnValues: Bool { get }
  /// The indices, among `count` inputs, of those whose values determine the sizes; by default, of all
  /// but the first.
  func decidingInputs(_ count: Int) -> [Int]
  /// The indices of the inputs that the resolved layer takes.
  func keptInputs(_ count: Int) -> [Int]
  /// The layer of fixed sizes for these input shapes and these values of the deciding inputs.
  ///
  /// - Throws: if the values do not fit the layer.
  func resolved(_ inputs: [[Int]], _ values: [[Float]]) throws -> any LayerParameters
}

extension DynamicLayer {
  package static var sizesDependOnValues: Bool { true }

  package func decidingInputs(_ count: Int) -> [Int] { Array(1..<max(1, count)) }

  package func keptInputs(_ count: Int) -> [Int] {
    let deciding = decidingInputs(count)
    return (0..<count).filter { !deciding.contains($0) }
  }

  /// The output shapes for known values of the deciding inputs.
  package func blobShapes(_ inputs: [[Int]], _ values: [[Float]]) throws -> [[Int]] {
    let fixed = try resolved(inputs, values)
    return try fixed.blobShapes(keptInputs(inputs.count).map { inputs[$0] })
  }
}

/// A layer whose output shapes are unknown until the values of its inputs are known.
package protocol ValueShapedLayer: ArrayLayer, DynamicLayer {}

extension ValueShapedLayer {
  /// Always throws: shapes alone do not determine the result.
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    throw ModelError(
      .unsupported, "the sizes of the output depend on values of an input", field: "input")
  }
}

extension [Float] {
  /// The values as sizes, rounded toward zero and clamped to ±`Limits.dimension`.
  func wholes(_ field: String) throws -> [Int] {
    try map { value in
      try require(!value.isNaN, "an input holds NaN where a size is needed", field: field)
      let bound = Float(Limits.dimension)
      return Int(Swift.min(Swift.max(value, -bound), bound).rounded(.towardZero))
    }
  }

  func flags() -> [Bool] { map { $0 != 0 } }
}
