import TensorCore

/// Rules that layers of arrays of any rank share.
package enum ArrayShape {
  /// An axis 0 ..< rank of one that may count from the end.
  ///
  /// - Throws: if there is no such axis.
  package static func axis(_ axis: Int, rank: Int, _ field: String = "axis") throws -> Int {
    try require(
      (-rank..<rank).contains(axis), "axis \(axis) does not exist in a tensor of rank \(rank)",
      field: field,
      hint: "valid axes are \(-rank) to \(rank - 1)")
    return axis < 0 ? axis + rank : axis
  }

  /// The same for several, in ascending order.
  ///
  /// - Throws: if one is named twice, too.
  package static func axes(_ axes: [Int], rank: Int, _ field: String = "axes") throws -> [Int] {
    let resolved = try axes.map { try axis($0, rank: rank, field) }.sorted()
    try require(
      Set(resolved).count == resolved.count, "\(axes) lists an axis twice", field: field)
    return resolved
  }

  /// The shape to which all stretch: aligned at the last axis, along each axis they have one size,
  /// or that and 1.
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

  /// Shapes of 1 to `Limits.rank` positive sizes with a possible product.
  static func checked(_ shape: [Int], _ field: String? = nil) throws -> [Int] {
    try require(
      (1...Limits.rank).contains(shape.count),
      "\(shape) has rank \(shape.count); valid ranks are 1 to \(Limits.rank)",
      field: field)
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

  /// The first input's shape, where it has the axis.
  func sameShape(_ inputs: [[Int]], _ axis: Int) throws -> [[Int]] {
    let shape = try ArrayShape.checked(try arrayInput(inputs))
    _ = try ArrayShape.axis(axis, rank: shape.count)
    return [shape]
  }
}
