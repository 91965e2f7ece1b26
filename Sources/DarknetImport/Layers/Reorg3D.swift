import ImportSupport
import TensorCore

/// Moves blocks of stride × stride into channels: row dy and column dx of a block move to channel
/// (dy · stride + dx) · C + c.
///
/// With `reverse`, the values are reinterpreted as `[C/s², H·s, W·s]`, and channels are moved into
/// blocks.
struct Reorg3DLayer: DarknetLayer {
  static let source = SourceLayer(
    "reorg3d", becomes: "reorganizeData; `reverse`: wrapped in reshapes")
  static let options = ["stride", "reverse"]

  private let stride: Int
  private let isReverse: Bool

  init(_ section: ConfigurationSection) throws {
    stride = try section.int("stride", default: 1, in: 1...(1 << 14))
    isReverse = try section.bool("reverse")
  }

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    let input = try call.image
    let (c, h, w) = (input.channels, input.height, input.width)
    if stride == 1 { return input }
    let area = stride * stride
    guard isReverse else {
      try call.require(
        h % stride == 0 && w % stride == 0, "\(h) × \(w) is not a multiple of the stride \(stride)")
      let blob = network.reorganized(input.blob, .spaceToDepth, stride, call.name)
      return try DarknetTensor(blob, c * area, h / stride, w / stride)
    }
    try call.require(
      c % (area * area) == 0,
      "\(c) channels are not a multiple of \(area * area), the fourth power of the stride")
    var output = try DarknetTensor("", c / area, h * stride, w * stride)
    let taken = network.reshaped(
      input.blob, output.channels, output.height, output.width, call.name + "__memory__")
    let moved = network.reorganized(taken, .depthToSpace, stride, call.name + "__blocks__")
    output.blob = network.reshaped(moved, output.channels, output.height, output.width, call.name)
    return output
  }
}
