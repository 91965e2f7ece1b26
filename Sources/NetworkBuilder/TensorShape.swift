import TensorCore

/// Height, width and channels of a tensor; nil if a size is unknown.
///
/// Vectors, such as the result of a ``Dense`` layer, have a height and a width of 1. The sizes are
/// in the order of the elements: throughout this library, a tensor's values are in the order
/// `[height, width, channels]`.
public struct TensorShape: Sendable, Hashable {
  /// Rows.
  public var height: Int?
  /// Columns.
  public var width: Int?
  /// Values per pixel.
  public var channels: Int?

  /// A shape; omitted sizes are unknown.
  public init(height: Int? = nil, width: Int? = nil, channels: Int? = nil) {
    self.height = height
    self.width = width
    self.channels = channels
  }

  /// height · width · channels; nil if one is unknown.
  public var count: Int? { sizes.flatMap { try? checkedProduct($0) } }

  /// `[height, width, channels]`; nil if one is unknown.
  var sizes: [Int]? {
    guard let height, let width, let channels else { return nil }
    return [height, width, channels]
  }

  /// Whether the tensor is a one-axis array in the document.
  var isVector: Bool { height == 1 && width == 1 }

  /// The shape of an array in this library's order, with or without leading axes of length 1.
  init(array: [Int]) {
    let sizes = Array(repeating: 1, count: max(0, 3 - array.count)) + array
    self.init(
      height: sizes[sizes.count - 3], width: sizes[sizes.count - 2],
      channels: sizes[sizes.count - 1])
  }

  /// `[Seq, Batch, C, H, W]`; nil if a size is unknown.
  var blob: [Int]? { sizes.map { [1, 1, $0[2], $0[0], $0[1]] } }

  /// The shape of a blob `[Seq, Batch, C, H, W]`.
  init(blob: [Int]) throws {
    try require(
      blob.count == 5 && blob[0] == 1 && blob[1] == 1, .unsupported,
      "the shape \(blob) is not [1, 1, channels, height, width]")
    self.init(height: blob[3], width: blob[4], channels: blob[2])
  }
}

extension TensorShape: CustomStringConvertible {
  /// `224 × 224 × 3`; an unknown size is a question mark.
  public var description: String {
    [height, width, channels].map { $0.map(String.init) ?? "?" }.joined(separator: " × ")
  }
}
