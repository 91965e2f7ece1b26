import CoreMLModel

/// Indexing in arrays of any rank.
extension ReferenceTensor {
  /// Computes each element from its index. Precondition: the product of `shape` has been checked.
  static func indexed(
    _ shape: [Int], _ element: ([Int]) throws -> Double
  ) rethrows -> ReferenceTensor {
    var result = ReferenceTensor(shape: shape)
    var index = [Int](repeating: 0, count: shape.count)
    for offset in result.elements.indices {
      result.elements[offset] = try element(index)
      for axis in shape.indices.reversed() {
        index[axis] += 1
        if index[axis] < shape[axis] { break }
        index[axis] = 0
      }
    }
    return result
  }

  func offset(_ index: [Int]) -> Int { zip(index, shape).reduce(0) { $0 * $1.1 + $1.0 } }

  subscript(index index: [Int]) -> Double { elements[offset(index)] }

  /// The element at `index` after this array is broadcast to the index's rank.
  func broadcast(_ index: [Int]) -> Double {
    self[index: zip(index.suffix(shape.count), shape).map { $1 == 1 ? 0 : $0 }]
  }
}
