/// The location of an axis in the textures of Metal kernels.
struct TextureAxis {
  /// 0 columns, 1 rows, 2 channels, 3 images.
  let axis: Int
  /// The axis, its length (for channels, in slices of four), and the number of channels.
  let numbers: [Int]

  /// - Parameter axis: as in `AxisShape`.
  /// - Returns: nil if the axis does not exist, or if it is one of several before the channels.
  init?(_ shape: [Int], along axis: Int?) {
    let axis = axis ?? (shape.count < 3 ? -1 : -3)
    let index = axis < 0 ? axis + shape.count : axis
    guard shape.indices.contains(index) else { return nil }
    let planes = PlaneShape(shape)
    // Shapes of one or two axes have a single row and column.
    let position = shape.count - 1 - index + (shape.count < 3 ? 2 : 0)
    guard position < 3 || shape[index] == planes.images else { return nil }
    self.axis = min(position, 3)
    let length = position == 2 ? (planes.channels + 3) / 4 : shape[index]
    numbers = [self.axis, length, planes.channels]
  }
}
