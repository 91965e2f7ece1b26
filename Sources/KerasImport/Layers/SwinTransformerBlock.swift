import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore

/// Attention within windows of an image, and a network of two matrices, each added to its input.
///
/// Source: keras-unet-collection 0.1.13, `transformer_layers.py`; keras-vision-transformer has the
/// same class. With `shift_size`, the windows are shifted cyclically, and places that were not
/// neighbors before do not attend to each other: their scores are lowered by 100.
struct SwinTransformerBlock: KerasLayer {
  static let classes = [SourceLayer](
    "SwinTransformerBlock",
    becomes:
      "reorganizeData, innerProducts, matrix products, \(SourceLayer.matrices), softmax",
    options:
      "`num_patch`, `num_heads`, `window_size`, `shift_size`, `num_mlp`, `qkv_bias`, `qk_scale`; of keras-unet-collection and keras-vision-transformer"
  )

  private let sizes: [Int]
  private let heads: Int
  private let window: Int
  private let shift: Int
  private let hidden: Int
  private let hasBias: Bool
  private let scale: Double?

  init(_ configuration: LayerConfiguration) throws {
    sizes = try configuration.sizes("num_patch", count: 2)
    heads = try configuration.int("num_heads")
    window = try configuration.int("window_size", default: 7)
    shift = try configuration.int("shift_size", default: 0, atLeast: 0)
    hidden = try configuration.int("num_mlp", default: 1024)
    hasBias = try configuration.bool("qkv_bias", default: true)
    let scale = try configuration.double("qk_scale", default: 0)
    self.scale = scale == 0 ? nil : scale
    try configuration.require(
      shift < window && sizes.allSatisfy { $0 % window == 0 }, "window_size",
      unsupported: "\(window) does not divide \(sizes[0]) × \(sizes[1]) patches")
  }

  var weights: [WeightSlot] {
    let computed = (shift > 0 ? ["mask"] : []) + ["index"]
    var slots = WeightSlot.inside("norm1", "gamma", "beta") + [WeightSlot("positions")]
    slots += WeightSlot.matrices("qkv", hasBias: hasBias) + WeightSlot.matrices("proj")
    slots += WeightSlot.inside("norm2", "gamma", "beta") + WeightSlot.matrices("fc1", "fc2")
    return slots + computed.map { WeightSlot($0, isTrainable: false) }
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let (input, steps, channels) = try call.sequence()
    try call.require(
      steps == (checkedProduct(sizes, limit: Limits.dimension)) && channels % heads == 0,
      "its input \(input.shapeText) does not have \(sizes[0]) × \(sizes[1]) patches and \(heads) heads"
    )
    let fields: KeyValuePairs<String, JSONValue> = ["epsilon": .double(1e-5)]
    var x = try call.part("LayerNormalization", [input], "norm1", fields, &network)
    x = try network.reshaped(
      x, to: sizes + [channels], preferred: .channelsLast, name: call.name + "__grid__", call)
    if shift > 0 { x = try rolled(x, -shift, "shift", call, &network) }
    let windows = try inWindows(x, channels, call, &network)
    let attended = try attention(windows, channels, call, &network)
    x = try joined(attended, channels, call, &network)
    if shift > 0 { x = try rolled(x, shift, "unshift", call, &network) }
    x = try network.reshaped(x, to: [steps, channels], name: call.name + "__patches__", call)
    x = try call.part("Add", [input, x], "attended", &network)
    var inner = try call.part("LayerNormalization", [x], "norm2", fields, &network)
    inner = try call.dense(inner, "fc1", hidden, activation: .string("gelu"), &network)
    inner = try call.dense(inner, "fc2", channels, &network)
    return [try call.part("Add", [x, inner], "sum", &network)]
  }

  private func rolled(
    _ x: KerasTensor, _ shift: Int, _ path: String, _ call: LayerCall,
    _ network: inout NetworkWriter
  ) throws -> KerasTensor {
    try call.step(
      "roll", [x], path,
      ["shift": .array([.int(shift), .int(shift)]), "axis": .array([.int(1), .int(2)])], &network)
  }

  /// `[windows, places, channels]`; the blocks of space_to_depth are the windows.
  private func inWindows(
    _ x: KerasTensor, _ channels: Int, _ call: LayerCall, _ network: inout NetworkWriter
  ) throws -> KerasTensor {
    let blocks =
      window == 1
      ? x : try call.step("space_to_depth", [x], "blocks", ["block_size": .int(window)], &network)
    return try network.reshaped(
      blocks, to: [windowCount, window * window, channels], name: call.name + "__windows__", call)
  }

  private func joined(
    _ windows: KerasTensor, _ channels: Int, _ call: LayerCall, _ network: inout NetworkWriter
  ) throws -> KerasTensor {
    let blocks = try network.reshaped(
      windows, to: [sizes[0] / window, sizes[1] / window, window * window * channels],
      preferred: .channelsLast, name: call.name + "__joined__", call)
    return window == 1
      ? blocks
      : try call.step(
        "depth_to_space", [blocks], "image", ["block_size": .int(window)], &network)
  }

  private var windowCount: Int { (sizes[0] / window) * (sizes[1] / window) }

  private func attention(
    _ windows: KerasTensor, _ channels: Int, _ call: LayerCall, _ network: inout NetworkWriter
  ) throws -> KerasTensor {
    let all = try call.dense(windows, "qkv", 3 * channels, hasBias: hasBias, &network)
    let parts = try OperationTable.convert(
      "split", call.with(name: call.name + "__parts__", inputs: [all]),
      ["num_or_size_splits": .int(3), "axis": .int(-1)], into: &network)
    guard parts.count == 3 else { throw call.error("its projection is not divisible by 3") }
    let core = HeadedAttention(
      heads: heads, scale: scale.map { Float($0) }, terms: try terms(call))
    let merged = try core.attended(parts[0], parts[1], parts[2], call, &network)
    return try call.dense(merged, "proj", channels, &network)
  }

  /// What is added to the scores of each window and head: the number stored for the distance of two
  /// places, and −100 where a window's places come from different parts of the image.
  private func terms(_ call: LayerCall) throws -> FloatValues {
    let places = window * window
    let count = try computedCount([windowCount, heads, places, places])
    let side = 2 * window - 1
    let table = try call.weight("positions", [side * side, heads]).array()
    var values: [Float] = []
    values.reserveCapacity(count)
    for down in 0..<sizes[0] / window {
      for right in 0..<sizes[1] / window {
        let regions = (0..<places).map { place in
          region(down * window + place / window, sizes[0]) * 3
            + region(right * window + place % window, sizes[1])
        }
        for head in 0..<heads {
          for query in 0..<places {
            for key in 0..<places {
              let rows = query / window - key / window + window - 1
              let columns = query % window - key % window + window - 1
              let number = table[(rows * side + columns) * heads + head]
              values.append(regions[query] == regions[key] ? number : number - 100)
            }
          }
        }
      }
    }
    return FloatValues(values).shaped([windowCount * heads, places, places])
  }

  /// The part of a shifted axis that a place belongs to.
  private func region(_ place: Int, _ size: Int) -> Int {
    shift == 0 || place < size - window ? 0 : place < size - shift ? 1 : 2
  }
}
