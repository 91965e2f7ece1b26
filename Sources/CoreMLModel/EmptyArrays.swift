import TensorCore

/// What a layer makes of arrays without elements, which arise where values decide sizes: the positions
/// of what is not 0 in zeros, or a slice that ends where it begins.
package enum EmptyResult: Sendable, Equatable {
  /// Empty outputs of these shapes.
  case empty([[Int]])
  /// The input at this index, unchanged.
  case input(Int)
  /// What the layer makes of the inputs at these positions alone.
  case inputs([Int])
  /// An array of this shape and these elements.
  case elements([Int], [Float])
}

extension LayerParameters {
  /// The layer's result if some of its inputs are empty.
  ///
  /// Output lengths are assumed to be linear in the input lengths, so those for lengths of 0 are
  /// extrapolated from those for 1 and 2.
  ///
  /// - Throws: `ModelError` if the shapes do not fit, or the result would have elements that do not
  ///   follow from the inputs.
  package func result(ofEmpty inputs: [[Int]]) throws -> EmptyResult {
    let filled = inputs.indices.filter { !inputs[$0].contains(0) }
    func shapes(_ length: Int) throws -> [[Int]] {
      try blobShapes(inputs.map { $0.map { $0 == 0 ? length : $0 } })
    }
    let (one, two) = (try shapes(1), try shapes(2))
    let result = zip(one, two).map { zip($0, $1).map { max(0, $0 - ($1 - $0)) } }
    if result.allSatisfy({ $0.contains(0) }) { return .empty(result) }
    switch self {
    case is Scatter, is ScatterND, is ScatterAlongAxis: return .input(0)
    case is ConcatND, is Concat: return .inputs(filled)
    case is ReduceSum, is ReduceProd:
      let count = try checkedProduct(result[0], limit: Limits.tensorElements)
      let value: Float = self is ReduceSum ? 0 : 1
      return .elements(result[0], [Float](repeating: value, count: count))
    case is GetShape: return .elements(result[0], inputs[0].map { Float($0) })
    default:
      throw ModelError(
        .unsupported, "the inputs of the shapes \(inputs) have no elements, which is not supported",
        field: "input")
    }
  }

  /// The output's shape if the known values leave it empty; nil otherwise.
  package func emptyShape(_ inputs: [[Int]]) throws -> [Int]? {
    let shape: [Int]
    switch self {
    case let layer as WhereNonZero: shape = [layer.count ?? 1, try arrayInput(inputs).count]
    case let layer as SliceStatic: shape = try layer.lengths(try arrayInput(inputs))
    case let layer as FillStatic: shape = layer.targetShape
    case let layer as Tile where layer.reps.count == inputs.first?.count:
      shape = zip(inputs[0], layer.reps).map { $0 * $1 }
    default: return nil
    }
    return shape.contains(0) && shape.allSatisfy { $0 >= 0 } ? shape : nil
  }
}
