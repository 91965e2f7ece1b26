/// A shape of any rank as images with channels of planes: the last three axes are C, H and W; with
/// one or two axes, the last is C.
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

  var area: Int { height * width }
  var itemCount: Int { channels * area }

  /// The same images with planes of another size.
  func with(channels: Int, height: Int, width: Int) -> [Int] {
    leading + [channels, height, width]
  }
}

/// A shape relative to one axis: the size before it, its length, and the size after it.
struct AxisShape {
  /// The index of the axis from the front.
  let index: Int
  let outer: Int
  let length: Int
  let inner: Int

  /// - Parameter axis: negative values count from the end; nil for the channel axis, which is
  ///   before rows and columns, or the last of fewer than three.
  /// - Returns: nil if the shape does not have the axis.
  init?(_ shape: [Int], along axis: Int?) {
    let axis = axis ?? (shape.count < 3 ? -1 : -3)
    let index = axis < 0 ? axis + shape.count : axis
    guard shape.indices.contains(index) else { return nil }
    self.index = index
    outer = shape[..<index].reduce(1, *)
    length = shape[index]
    inner = shape[(index + 1)...].reduce(1, *)
  }
}
