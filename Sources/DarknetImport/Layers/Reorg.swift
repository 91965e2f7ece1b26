import CoreMLModel
import ImportSupport
import TensorCore

/// Darknet's reordering of rows, columns and channels.
///
/// It reinterprets `[C, H, W]` in memory order as an image `[C/s², H·s, W·s]`, moves blocks of s ×
/// s pixels into channels, and reinterprets the result as `[C·s², H/s, W/s]`. This is not a
/// space-to-depth of the input. With `reverse`, it is a depth-to-space of the input.
struct ReorgLayer: DarknetLayer {
  static let source = SourceLayer(
    "reorg", "reorg_old",
    becomes:
      "reshape, reorganizeData, reshape; `reverse`: reorganizeData; `extra`: flatten and zeros",
    refused:
      "channels not divisible by the square of `stride`, and `flatten` with `extra`: undefined "
      + "in Darknet")
  static let options = ["stride", "reverse", "flatten", "extra"]

  private let stride: Int
  private let isReverse: Bool
  private let isFlattened: Bool
  private let extra: Int

  init(_ section: ConfigurationSection) throws {
    stride = try section.int("stride", default: 1, in: 1...(1 << 14))
    isReverse = try section.bool("reverse")
    isFlattened = try section.bool("flatten")
    extra = try section.int("extra", default: 0, in: 0...Limits.dimension)
    if extra > 0, isFlattened {
      try section.refuse("extra", "with flatten, Darknet reads numbers after its input")
    }
  }

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    let input = try call.image
    if extra > 0 { return try lengthened(input, call, &network) }
    let (c, h, w) = (input.channels, input.height, input.width)
    let area = stride * stride
    guard isReverse || (h % stride == 0 && w % stride == 0) else {
      throw call.error("\(h) × \(w) is not a multiple of the stride \(stride)")
    }
    guard c % area == 0 || (isFlattened && !isReverse) else {
      throw call.error("\(c) channels are not a multiple of \(area), the square of the stride")
    }
    let output =
      isReverse
      ? try DarknetTensor("", c / area, h * stride, w * stride)
      : try DarknetTensor("", c * area, h / stride, w / stride)
    if isFlattened { return output.with(reordered(input, output, call, &network)) }
    if stride == 1 { return input }
    if isReverse {
      return output.with(network.reorganized(input.blob, .depthToSpace, stride, call.name))
    }
    let taken = network.reshaped(
      input.blob, c / area, h * stride, w * stride, call.name + "__memory__")
    let moved = network.reorganized(taken, .spaceToDepth, stride, call.name + "__blocks__")
    return output.with(
      network.reshaped(moved, output.channels, output.height, output.width, call.name))
  }

  /// `extra`: the input as a vector, followed by zeros.
  private func lengthened(
    _ input: DarknetTensor, _ call: LayerCall, _ network: inout DarknetWriter
  ) throws -> DarknetTensor {
    try network.addConstants([extra], call)
    var zeros = LoadConstant()
    zeros.shape = [extra, 1, 1]
    zeros.data = Weights([Float](repeating: 0, count: extra))
    let parts = [
      network.flattened(input, for: call.name), network.add(call.name + "__extra__", zeros, []),
    ]
    return try .vector(
      network.joined(parts, alongSequence: false, call.name),
      checkedSum([input.count, extra], limit: Limits.dimension))
  }

  /// `flatten`: transposes the order channels, rows, columns to rows, columns, channels; `reverse`
  /// transposes back.
  private func reordered(
    _ input: DarknetTensor, _ output: DarknetTensor, _ call: LayerCall,
    _ network: inout DarknetWriter
  ) -> String {
    let area = input.height * input.width
    let rows = isReverse ? area : input.channels
    let columns = isReverse ? input.channels : area
    let matrix = network.reshaped(input.blob, 1, rows, columns, call.name + "__matrix__")
    let transposed = network.permuted(matrix, [0, 1, 3, 2], call.name + "__turned__")
    return network.reshaped(transposed, output.channels, output.height, output.width, call.name)
  }
}
