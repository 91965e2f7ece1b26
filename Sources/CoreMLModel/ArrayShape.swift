import TensorCore

/// Rules shared by layers of arrays of any rank.
package enum ArrayShape {
  /// The axis as 0 ..< rank; a negative one counts from the end.
  ///
  /// - Throws: `ModelError` if the axis does not exist.
  package static func axis(_ axis: Int, rank: Int, _ field: String = "axis") throws -> Int {
    try require(
      (-rank..<rank).contains(axis), "axis \(axis) does not exist in a tensor of rank \(rank)",
      field: field, hint: "valid axes are \(-rank) to \(rank - 1)")
    return axis < 0 ? axis + rank : axis
  }

  /// The same for several axes, in ascending order.
  ///
  /// - Throws: `ModelError` if an axis does not exist or is listed twice.
  package static func axes(_ axes: [Int], rank: Int, _ field: String = "axes") throws -> [Int] {
    let resolved = try axes.map { try axis($0, rank: rank, field) }.sorted()
    try require(Set(resolved).count == resolved.count, "\(axes) lists an axis twice", field: field)
    return resolved
  }

  /// The position along each axis of an element, by its number in row-major order.
  package static func position(of index: Int, in shape: some Collection<Int>) -> [Int] {
    var rest = index
    return shape.reversed().map { size in
      defer { rest /= size }
      return rest % size
    }.reversed()
  }

  /// The common shape after broadcasting: aligned at the last axis; along each axis, all sizes are
  /// equal or 1.
  package static func broadcast(_ shapes: [[Int]]) throws -> [Int] {
    let rank = shapes.map(\.count).max() ?? 0
    var result = [Int](repeating: 1, count: rank)
    for shape in shapes {
      for (offset, size) in shape.reversed().enumerated() where size != 1 {
        let axis = rank - 1 - offset
        try require(
          result[axis] == 1 || result[axis] == size,
          "shapes \(shapes) cannot be broadcast together", field: "input")
        result[axis] = size
      }
    }
    return result
  }

  /// The shape, after a check that it has 1 to `Limits.rank` positive sizes and a product within
  /// the limits.
  static func checked(_ shape: [Int], _ field: String? = nil) throws -> [Int] {
    try require(
      (1...Limits.rank).contains(shape.count),
      "\(shape) has rank \(shape.count); valid ranks are 1 to \(Limits.rank)", field: field)
    do { return try checkedShape(shape) } catch var error as ModelError {
      error.field = field
      throw error
    }
  }
}

extension LayerParameters {
  /// The shape of the only input, or the first.
  func arrayInput(_ inputs: [[Int]]) throws -> [Int] {
    try requireInputs(inputs)
    return inputs.first ?? []
  }

  /// The first input's shape, after a check that it has the axis.
  func sameShape(_ inputs: [[Int]], _ axis: Int) throws -> [[Int]] {
    let shape = try ArrayShape.checked(try arrayInput(inputs))
    _ = try ArrayShape.axis(axis, rank: shape.count)
    return [shape]
  }
}
