import TensorCore

/// What a layer makes of arrays without elements, which arise where values decide sizes: the positions
/// of what is not 0 in zeros, or a slice that ends where it begins.
package enum EmptyResult: Sendable, Equatable {
  /// Outputs of these shapes, none of which has elements.
  case empty([[Int]])
  /// The input at this place, unchanged.
  case input(Int)
  /// What the layer makes of the inputs at these positions alone.
  case inputs([Int])
  /// An array of this shape and these elements.
  case elements([Int], [Float])
}

extension LayerParameters {
  /// What the layer makes of inputs of which some have no elements.
  ///
  /// The lengths of a result are taken to be linear in those of the inputs, so those for lengths of
  /// 1 and 2 in the place of 0 give those for 0.
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

  /// The shape of the output if values, which are known now, leave it without elements.
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
