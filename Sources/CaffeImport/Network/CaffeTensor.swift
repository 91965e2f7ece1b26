import TensorCore

/// A Caffe blob, and the Core ML blob that holds it.
///
/// The Core ML blob has `rank` axes: 5, which are `[Seq, Batch, C, H, W]`, for all that layers of
/// specification 1 to 3 compute, or the Caffe blob's own number, for layers of later versions. Those
/// of its axes that hold none of Caffe's have length 1.
struct CaffeTensor: Sendable {
  /// The name in the Core ML network.
  var blob: String
  /// Sizes along Caffe's axes, the batch among them. A batch that the interface of the Core ML model
  /// leaves out counts 1, whatever the file says.
  var shape: [Int]
  /// The axis of the Core ML blob that holds each of Caffe's axes.
  var axes: [Int]
  /// How many axes the Core ML blob has.
  var rank: Int
  /// How many layers take this version of the blob; one more where it is an output.
  var readers = 1
  /// Whether the shape is only what a custom layer's is taken to be.
  var isGuess = false
  /// The values, where they are known without any input.
  var constant: FloatValues?
  /// Of a pooling layer's second top: how a blob tells where each window's maximum lies.
  var maxima: WindowMaxima?

  /// A blob `[Seq, Batch, C, H, W]`; by default with Caffe's axes in their standard places.
  init(_ blob: String, _ shape: [Int], axes: [Int]? = nil) {
    self.blob = blob
    self.shape = shape
    self.axes = axes ?? Self.standardAxes(shape.count)
    rank = 5
  }

  /// A blob with Caffe's own axes.
  init(exact blob: String, _ shape: [Int]) {
    self.blob = blob
    self.shape = shape
    axes = Array(shape.indices)
    rank = shape.count
  }

  /// Where the axes of a Caffe blob are in `[Seq, Batch, C, H, W]`: one axis is C, two are Batch and
  /// C, more are the last ones.
  static func standardAxes(_ count: Int) -> [Int] {
    switch count {
    case 0: []
    case 1: [2]
    case 2: [1, 2]
    default: Array(max(0, 5 - count)..<max(5, count))
    }
  }

  /// Whether the blob has Caffe's own axes.
  var isExact: Bool { rank == shape.count && axes == Array(shape.indices) }

  /// The index of a Caffe axis that may count from the end, −1 being the last.
  func axis(_ index: Int, _ field: String, of layer: CaffeLayer) throws -> Int {
    try layer.require(
      index >= -shape.count && index < shape.count,
      "axis \(index) does not exist: its bottom has \(shape.count) axes", field: field)
    return index < 0 ? index + shape.count : index
  }

  /// The product of the sizes of some of Caffe's axes; by default all.
  func count(_ range: Range<Int>? = nil) throws -> Int {
    try checkedProduct(shape[range ?? 0..<shape.count], limit: Limits.tensorElements)
  }

  /// The tensor with another blob and shape, its axes where they are.
  func with(_ blob: String, shape: [Int]? = nil) -> CaffeTensor {
    var result = self
    result.blob = blob
    result.shape = shape ?? self.shape
    result.constant = nil
    result.maxima = nil
    return result
  }

  var shapeText: String { "(" + shape.map(String.init).joined(separator: ", ") + ")" }
}
