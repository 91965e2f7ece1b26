import TensorCore

/// `size`, `stride` and padding of a convolution.
struct WindowOptions: Sendable {
  let size: Int
  let strideX: Int
  let strideY: Int
  /// The padding on each side.
  let padding: Int

  /// The maximum side of a window.
  static let limit = 1 << 14
  /// The maximum number of filters, or of outputs of a connected layer.
  static let filterLimit = 1 << 20

  init(_ section: ConfigurationSection) throws {
    size = try section.int("size", default: 1, in: 1...Self.limit)
    let stride = try section.int("stride", default: 1, in: 1...Limits.dimension)
    // −1 or 0 means `stride`.
    let x = try section.int("stride_x", default: 0, in: -1...Limits.dimension)
    let y = try section.int("stride_y", default: 0, in: -1...Limits.dimension)
    strideX = x < 1 ? stride : x
    strideY = y < 1 ? stride : y
    let own = try section.int("padding", default: 0, in: 0...Self.limit)
    padding = try section.bool("pad") ? size / 2 : own
  }

  /// ⌊(length + 2 · border − span) / stride⌋ + 1
  func length(
    _ length: Int, _ span: Int, _ stride: Int, _ border: Int, _ call: LayerCall
  ) throws -> Int {
    let rest = length + 2 * border - span
    try call.require(
      rest >= 0, "a window of \(span) does not fit its input's \(length) and a border of \(border)")
    return rest / stride + 1
  }
}
