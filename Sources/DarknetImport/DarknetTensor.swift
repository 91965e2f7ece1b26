import TensorCore

/// A blob with its sizes in Darknet.
struct DarknetTensor: Sendable {
  var blob: String
  let channels: Int
  let height: Int
  let width: Int
  /// Whether image layers accept it; otherwise Darknet's height and width are 0.
  var isImage = true
  /// Whether it is the grid of a detection head, which no layer can read.
  var isGrid = false

  init(_ blob: String, _ channels: Int, _ height: Int, _ width: Int) throws {
    try require(
      channels > 0 && height > 0 && width > 0,
      "its output would have the size \(channels) × \(height) × \(width)")
    _ = try checkedProduct([channels, height, width], limit: Limits.tensorElements)
    _ = try checkedSum([channels, height, width], limit: Limits.dimension)
    self.blob = blob
    self.channels = channels
    self.height = height
    self.width = width
  }

  /// A vector with `count` elements.
  static func vector(_ blob: String, _ count: Int) throws -> DarknetTensor {
    var tensor = try DarknetTensor(blob, count, 1, 1)
    tensor.isImage = false
    return tensor
  }

  /// Another blob with the same sizes.
  func with(_ blob: String) -> DarknetTensor {
    var result = self
    result.blob = blob
    return result
  }

  var count: Int { channels * height * width }
  var isRow: Bool { height == 1 && width == 1 }
  var shape: [Int] { [channels, height, width] }
  /// The letters of Darknet's axes; a vector has only batch and channels.
  var layout: String { isRow && !isGrid ? "NC" : "NCHW" }
  var sizes: String { "\(channels) × \(height) × \(width)" }

  func hasSize(of other: DarknetTensor) -> Bool { height == other.height && width == other.width }
}
