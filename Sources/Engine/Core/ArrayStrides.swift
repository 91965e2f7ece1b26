import TensorCore

/// Strides through row-major arrays.
enum ArrayStrides {
  /// The strides of `shape` along the axes of `target`, aligned at the last axis; 0 along repeated
  /// axes.
  static func broadcast(_ shape: [Int], to target: [Int]) -> [Int] {
    let own = Tensor.strides(shape)
    let added = target.count - shape.count
    return target.indices.map { axis in
      axis < added || shape[axis - added] == 1 ? 0 : own[axis - added]
    }
  }

  /// The same traversal with as few axes as possible: drops axes of length 1, and merges adjacent
  /// axes that every operand traverses without a gap. At least one axis remains.
  static func merged(_ sizes: [Int], _ operands: [[Int]]) -> (sizes: [Int], operands: [[Int]]) {
    var mergedSizes: [Int] = []
    var merged = operands.map { _ in [Int]() }
    for axis in sizes.indices where sizes[axis] != 1 {
      let steps = operands.map { $0[axis] }
      if let last = mergedSizes.last,
        zip(merged, steps).allSatisfy({ ($0.last ?? 0) == $1 * sizes[axis] })
      {
        mergedSizes[mergedSizes.count - 1] = last * sizes[axis]
        for index in merged.indices { merged[index][merged[index].count - 1] = steps[index] }
      } else {
        mergedSizes.append(sizes[axis])
        for index in merged.indices { merged[index].append(steps[index]) }
      }
    }
    if mergedSizes.isEmpty { return ([1], operands.map { _ in [0] }) }
    return (mergedSizes, merged)
  }
}
