import DarknetFormat
import TensorCore

/// The values after the header of a `.weights` file, in the order of the sections; parser.c,
/// `load_weights_upto`.
struct WeightCursor {
  private let values: Bytes
  private var position = 0
  /// Whether matrices of connected layers are `[inputs, outputs]`.
  let isTransposed: Bool
  /// Whether Bochkovskiy's Darknet wrote the file.
  let isOfBochkovskiy: Bool

  private init(_ bytes: Bytes, header: Int, isTransposed: Bool, isOfBochkovskiy: Bool) {
    values = bytes[min(header, bytes.count)..<bytes.count]
    self.isTransposed = isTransposed
    self.isOfBochkovskiy = isOfBochkovskiy
  }

  /// The possible readings of a file. The number of images seen has 64 bits since version 0.2; if
  /// the version exceeds 1000, Redmon's Darknet reads 32 bits and Bochkovskiy's 64.
  static func readings(of source: DarknetSource) throws -> [WeightCursor] {
    guard let bytes = source.weightBytes else {
      return [WeightCursor(Bytes(), header: 0, isTransposed: false, isOfBochkovskiy: false)]
    }
    let words = bytes[0..<min(bytes.count, 12)].array(of: Int32.self)
    try require(words.count == 3, "it ends inside its header", file: source.weights?.path)
    let (major, minor) = (Int(words[0]), Int(words[1]))
    let isTransposed = major > 1000 || minor > 1000
    let isRecent = major * 10 + minor >= 2
    let isSmall = major < 1000 && minor < 1000
    let headers = !isRecent ? [16] : isSmall ? [20] : [16, 20]
    return headers.map {
      WeightCursor(bytes, header: $0, isTransposed: isTransposed, isOfBochkovskiy: words[2] >= 5)
    }
  }

  /// The next values, read in place.
  mutating func take(_ shape: [Int]) throws -> FloatValues {
    let count = try checkedProduct(shape, limit: Limits.tensorElements)
    try require(count * 4 <= values.count - position, "the weights end before its \(count) numbers")
    defer { position += count * 4 }
    return FloatValues(bytes: values[position..<position + count * 4])
  }

  mutating func numbers(_ count: Int) throws -> [Double] {
    try take([count]).array().map(Double.init)
  }

  var isUsedUp: Bool { position == values.count }
}
