/// Maps the positions of a resized axis to positions on the original axis.
struct AxisSampling {
  /// Two neighbors, and the weight of the second.
  struct Position: Equatable {
    var first: Int
    var second: Int
    var weight: Float
  }

  var isNearest: Bool
  var alignsCorners: Bool
  var usesHalfPixels: Bool

  func positions(of length: Int, in count: Int) -> [Position] {
    let scale =
      alignsCorners && count > 1
      ? Double(length - 1) / Double(count - 1) : Double(length) / Double(count)
    return (0..<count).map { index in
      if isNearest {
        // TensorFlow rounds aligned positions half up and rounds the others down.
        let position =
          alignsCorners
          ? (Double(index) * scale + 0.5).rounded(.down)
          : ((Double(index) + (usesHalfPixels ? 0.5 : 0)) * scale).rounded(.down)
        let nearest = min(max(Int(position), 0), length - 1)
        return Position(first: nearest, second: nearest, weight: 0)
      }
      let position =
        usesHalfPixels ? (Double(index) + 0.5) * scale - 0.5 : Double(index) * scale
      let floor = position.rounded(.down)
      return Position(
        first: min(max(Int(floor), 0), length - 1), second: min(max(Int(floor) + 1, 0), length - 1),
        weight: Float(position - floor))
    }
  }

  /// The arguments of a Metal kernel: for each position, the source positions, then their weights.
  func table(of length: Int, in count: Int) -> [SIMD4<Float>] {
    positions(of: length, in: count).flatMap {
      [SIMD4(Float($0.first), Float($0.second), 0, 0), SIMD4(1 - $0.weight, $0.weight, 0, 0)]
    }
  }

  /// Resizes every plane.
  func resize(
    _ source: UnsafePointer<Float>, _ from: PlaneShape, to target: UnsafeMutablePointer<Float>,
    _ to: PlaneShape
  ) {
    let rows = positions(of: from.height, in: to.height)
    let columns = positions(of: from.width, in: to.width)
    for plane in 0..<from.images * from.channels {
      let image = source + plane * from.area
      let result = target + plane * to.area
      for (y, row) in rows.enumerated() {
        let (upper, lower) = (image + row.first * from.width, image + row.second * from.width)
        let line = result + y * to.width
        for x in 0..<to.width {
          let column = columns[x]
          let top = upper[column.first] * (1 - column.weight) + upper[column.second] * column.weight
          let bottom =
            lower[column.first] * (1 - column.weight) + lower[column.second] * column.weight
          line[x] = top * (1 - row.weight) + bottom * row.weight
        }
      }
    }
  }
}
