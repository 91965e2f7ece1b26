import TensorCore

/// A layer whose sizes are values of its inputs. Where these are known, it is another layer, of
/// fixed sizes.
package protocol DynamicLayer: LayerParameters {
  /// Whether the sizes of the outputs need the values, too.
  static var sizesDependOnValues: Bool { get }
  /// The positions, among so many inputs, of those whose values decide the sizes.
  func decidingInputs(_ count: Int) -> [Int]
  /// The positions of the inputs that the layer of fixed sizes takes.
  func keptInputs(_ count: Int) -> [Int]
  /// The layer of fixed sizes for inputs of these shapes and for the values of those that decide.
  ///
  /// - Throws: if the values do not fit the layer.
  func resolved(_ inputs: [[Int]], _ values: [[Float]]) throws -> any LayerParameters
}

extension DynamicLayer {
  package static var sizesDependOnValues: Bool { true }

  package func keptInputs(_ count: Int) -> [Int] {
    let deciding = decidingInputs(count)
    return (0..<count).filter { !deciding.contains($0) }
  }

  /// Shapes of the outputs where the values of the deciding inputs are known.
  package func blobShapes(_ inputs: [[Int]], _ values: [[Float]]) throws -> [[Int]] {
    let fixed = try resolved(inputs, values)
    return try fixed.blobShapes(keptInputs(inputs.count).map { inputs[$0] })
  }
}

/// A layer that has sizes only once values of its inputs are known.
package protocol ValueShapedLayer: ArrayLayer, DynamicLayer {}

extension ValueShapedLayer {
  /// Always throws: shapes alone do not tell.
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    throw ModelError(
      .unsupported, "the sizes of the output depend on values of an input", field: "input")
  }
}

/// Values of an array as what they count.
extension [Float] {
  /// Each as a whole number, towards zero; those too large for a size as one that none has.
  func wholes(_ field: String) throws -> [Int] {
    try map { value in
      try require(!value.isNaN, "an input holds NaN where a size is needed", field: field)
      let bound = Float(Limits.dimension)
      return Int(Swift.min(Swift.max(value, -bound), bound).rounded(.towardZero))
    }
  }

  func flags() -> [Bool] { map { $0 != 0 } }
}
