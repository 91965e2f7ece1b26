import TensorCore

/// A Caffe blob, and the Core ML blob that stores it.
///
/// The Core ML blob has `rank` axes: `[Seq, Batch, C, H, W]` for layers of specification 1 to 3, or
/// those of the Caffe blob for later layers. Axes that correspond to no Caffe axis have length 1.
struct CaffeTensor: Sendable {
  /// The name in the Core ML network.
  var blob: String
  /// Caffe's shape, including the batch. A batch axis that the model's interface omits counts as 1,
  /// regardless of the file.
  var shape: [Int]
  /// The Core ML axis for each of Caffe's axes.
  var axes: [Int]
  /// The number of axes of the Core ML blob.
  var rank: Int
  /// The number of layers that read this version of the blob, plus one if it is an output.
  var readers = 1
  /// The batch that the interface omits, if the tensor has one item of it.
  var batch: OmittedBatch?
  /// Whether the shape is the assumed one of a custom layer.
  var isShapeAssumed = false
  /// The values, if they do not depend on any input.
  var constant: FloatValues?
  /// The argmax mask, for a pooling layer's second top.
  var maxima: PoolingIndices?

  /// A blob `[Seq, Batch, C, H, W]`; by default with Caffe's axes on their standard Core ML axes.
  init(_ blob: String, _ shape: [Int], axes: [Int]? = nil) {
    self.blob = blob
    self.shape = shape
    self.axes = axes ?? Self.standardAxes(shape.count)
    rank = 5
  }

  /// A blob with exactly Caffe's axes.
  init(exact blob: String, _ shape: [Int]) {
    self.blob = blob
    self.shape = shape
    axes = Array(shape.indices)
    rank = shape.count
  }

  /// The Core ML axes for a blob with `count` axes: one axis is C, two are Batch and C, and more
  /// are the last ones of `[Seq, Batch, C, H, W]`.
  static func standardAxes(_ count: Int) -> [Int] {
    switch count {
    case 0: []
    case 1: [2]
    case 2: [1, 2]
    default: Array(max(0, 5 - count)..<max(5, count))
    }
  }

  /// Whether the blob has exactly Caffe's axes.
  var isExact: Bool { rank == shape.count && axes == Array(shape.indices) }

  /// The index of a Caffe axis; negative indices count from the end.
  func axis(_ index: Int, _ field: String, of layer: LayerCall) throws -> Int {
    try layer.require(
      index >= -shape.count && index < shape.count,
      "axis \(index) does not exist: its bottom has \(shape.count) axes", field: field)
    return index < 0 ? index + shape.count : index
  }

  /// The product of the sizes of the given Caffe axes; by default all.
  func count(_ range: Range<Int>? = nil) throws -> Int {
    try checkedProduct(shape[range ?? 0..<shape.count], limit: Limits.tensorElements)
  }

  /// The tensor with another blob and shape, and its axes in the same positions.
  func with(_ blob: String, shape: [Int]? = nil) -> CaffeTensor {
    var result = self
    result.blob = blob
    result.shape = shape ?? self.shape
    result.constant = nil
    result.maxima = nil
    return result
  }

  /// The shape with the whole batch.
  var wholeShape: [Int] {
    var result = shape
    if let batch { result[batch.axis] = batch.size }
    return result
  }

  var shapeText: String { "(" + shape.map(String.init).joined(separator: ", ") + ")" }
}
