import TensorCore

/// The ranks that a type of layer accepts, and how it reads shapes with fewer than five axes.
///
/// Layer types from specification 1 to 3 compute on `[Seq, Batch, C, H, W]`. With exact mapping
/// they also receive arrays of other ranks: the last three axes are C, H and W, the axis before
/// them is the batch, and any earlier axes are the sequence.
package enum BlobRank {
  /// `[Seq, Batch, C, H, W]` for a shape of any rank.
  ///
  /// - Parameter vectorRank: up to this rank the last axis is C, with H = W = 1.
  /// - Throws: `ModelError` if the product of the leading axes exceeds the limits, for ranks above
  ///   5.
  package static func fiveAxes(_ shape: [Int], vectorRank: Int = 2) throws -> [Int] {
    if shape.count == 5 { return shape }
    if shape.count <= vectorRank {
      return [Int](repeating: 1, count: 3 - shape.count) + shape + [1, 1]
    }
    if shape.count < 5 { return [Int](repeating: 1, count: 5 - shape.count) + shape }
    let leading = try checkedProduct(shape.dropLast(4), limit: Limits.dimension)
    return [leading] + shape.suffix(4)
  }

  /// The result `five` in the rank of the layer's input, which has the shape `like`.
  static func restored(_ five: [Int], like shape: [Int], vectorRank: Int) throws -> [Int] {
    let rank = shape.count
    if rank == 5 { return five }
    let isVector = rank <= vectorRank
    let kept = isVector ? five.dropLast(2).suffix(rank) : five.suffix(min(rank, 4))
    let isWhole = kept.reduce(1, *) == five.reduce(1, *)
    if rank < 5, isWhole { return Array(kept) }
    if rank > 5, five.first == (try fiveAxes(shape).first) { return shape.dropLast(4) + kept }
    throw ModelError(
      .malformed, "the result \(five) cannot have the input's rank \(rank)", field: "input",
      hint: "give the layer an input [Seq, Batch, C, H, W]")
  }
}

extension LayerParameters {
  package static var minimumRank: Int { specificationVersion < 4 ? 3 : 1 }
  package static var vectorRank: Int { 2 }

  /// Whether the type computes on `[Seq, Batch, C, H, W]` whatever the ranks of its inputs.
  package static var usesFiveAxes: Bool {
    specificationVersion < 4 && self != Custom.self && !(self is any ElementwiseLayer.Type)
  }

  /// The shape as this layer type reads it: a scalar becomes `[1]` if the type needs an axis.
  package static func seenShape(_ shape: [Int]) -> [Int] {
    shape.isEmpty && minimumRank > 0 ? [1] : shape
  }

  /// Shapes of the outputs for inputs of any rank.
  ///
  /// - Throws: `ModelError` if the shapes do not fit the parameters, or the type does not accept
  ///   such a rank.
  package func blobShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    for shape in inputs where shape.count > Limits.rank {
      throw ModelError(
        .malformed, "an input has rank \(shape.count); the limit is \(Limits.rank)",
        field: "input")
    }
    let inputs = inputs.map(Self.seenShape)
    guard Self.usesFiveAxes, let first = inputs.first(where: { $0.count != 5 }) else {
      return try outputShapes(inputs)
    }
    try require(
      inputs.allSatisfy({ $0.count >= Self.minimumRank }),
      "an input has the shape \(first); the rank must be at least \(Self.minimumRank)",
      field: "input")
    let rank = first.count
    try require(
      inputs.allSatisfy { $0.count == rank }, "the inputs have different ranks: \(inputs)",
      field: "input")
    let five = try inputs.map { try BlobRank.fiveAxes($0, vectorRank: Self.vectorRank) }
    return try outputShapes(five).map {
      try BlobRank.restored($0, like: first, vectorRank: Self.vectorRank)
    }
  }
}
