import TensorCore

/// A shape of any rank as images of channels of planes: its last three axes are C, H and W, the
/// last of one or two axes is C.
struct PlaneShape: Equatable {
  let images: Int
  let channels: Int
  let height: Int
  let width: Int
  private let leading: [Int]

  init(_ shape: [Int]) {
    let rest = shape.count < 3 ? shape + [1, 1] : shape
    leading = Array(rest.dropLast(3))
    images = leading.reduce(1, *)
    channels = rest[rest.count - 3]
    height = rest[rest.count - 2]
    width = rest[rest.count - 1]
  }

  /// - Throws: if `shape` has no axes for C, H and W.
  init(planes shape: [Int]) throws {
    try require(
      shape.count >= 3, "an input has the shape \(shape); C, H and W are needed",
      field: "input")
    self.init(shape)
  }

  var area: Int { height * width }
  var itemCount: Int { channels * area }

  /// The same images with other planes.
  func with(channels: Int, height: Int, width: Int) -> [Int] {
    leading + [channels, height, width]
  }
}

/// A shape seen along one axis: what is before it, its length, what is after it.
struct AxisShape {
  let outer: Int
  let length: Int
  let inner: Int

  /// - Parameter axis: counted from the last one where negative; nil for that of the channels, the one
  /// before rows and columns or the last of fewer than three.
  init(_ shape: [Int], axis: Int?) throws {
    let axis = axis ?? (shape.count < 3 ? -1 : -3)
    let index = axis < 0 ? axis + shape.count : axis
    try require(
      shape.indices.contains(index), "axis \(axis) does not exist in the shape \(shape)",
      field: "parameters.axis")
    outer = shape[..<index].reduce(1, *)
    length = shape[index]
    inner = shape[(index + 1)...].reduce(1, *)
  }
}
