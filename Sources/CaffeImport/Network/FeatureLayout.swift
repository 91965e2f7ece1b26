import ImportSupport

/// How features of the Core ML model correspond to Caffe's blobs.
enum FeatureLayout {
  /// The letters of Caffe's axes, as `SourceLayout` reads them; empty if the axes have none.
  static func letters(_ tensor: CaffeTensor) -> String {
    guard tensor.rank == 5 else { return "" }
    let letters: [Character] = ["T", "N", "C", "H", "W"]
    return String(tensor.axes.map { letters[$0] })
  }

  /// The shape of an output: `(C)`, `(C, H, W)`, all five axes if Seq or Batch is longer than 1, or
  /// the exact shape. Empty if a custom layer leaves it open.
  static func shape(_ tensor: CaffeTensor) -> [Int] {
    if tensor.isShapeAssumed { return [] }
    if tensor.rank != 5 { return tensor.shape.isEmpty ? [1] : tensor.shape }
    var five = [1, 1, 1, 1, 1]
    for (axis, size) in zip(tensor.axes, tensor.shape) { five[axis] = size }
    let isVector = !tensor.axes.contains(3) && !tensor.axes.contains(4)
    if tensor.shape.count == 5, five[0] * five[1] > 1 { return five }
    return isVector ? [five[2]] : Array(five.suffix(3))
  }
}
