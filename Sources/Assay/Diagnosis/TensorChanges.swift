import TensorCore

extension Tensor {
  /// The slices along the last axis longer than 1, one for each index of the other axes.
  func rows() -> [[Float]] {
    let elements = elements
    let length = max(1, shape.last { $0 > 1 } ?? 1)
    return stride(from: 0, to: elements.count, by: length).map {
      Array(elements[$0..<min($0 + length, elements.count)])
    }
  }

  /// - Parameter change: must keep the number of elements.
  func mapRows(_ change: ([Float]) -> [Float]) -> Tensor {
    Tensor(shape: shape, rows().flatMap(change))
  }

  /// The tensor with its last three axes longer than 1 permuted; unchanged if it has fewer.
  func withLastAxes(_ axes: [Int]) -> Tensor {
    let positions = Array(shape.indices.filter { shape[$0] > 1 }.suffix(3))
    guard positions.count == 3 else { return self }
    let sizes = positions.map { shape[$0] }
    var newShape = shape
    for (position, axis) in zip(positions, axes) { newShape[position] = sizes[axis] }
    let outer = shape[..<positions[0]].reduce(1, *)
    return reshaped([outer] + sizes).transposed([0] + axes.map { $0 + 1 }).reshaped(newShape)
  }

  /// The tensor with `change` applied to each element, given its index on `axis`.
  func mapChannels(_ axis: Int, _ change: (_ channel: Int, Float) -> Float) -> Tensor {
    let inner = shape[(axis + 1)...].reduce(1, *)
    let count = shape[axis]
    var result = self
    result.withUnsafeMutableElements { elements in
      for index in elements.indices {
        elements[index] = change(index / inner % count, elements[index])
      }
    }
    return result
  }

  /// Whether every element differs by at most 1e-4 of the largest expected magnitude.
  func isNear(_ expected: Tensor) -> Bool {
    guard count == expected.count else { return false }
    return withUnsafeElements { a in
      expected.withUnsafeElements { b in
        let largest = b.reduce(0) { max($0, abs($1)) }
        return largest > 0 && a.indices.allSatisfy { abs(a[$0] - b[$0]) <= 1e-4 * largest }
      }
    }
  }
}
