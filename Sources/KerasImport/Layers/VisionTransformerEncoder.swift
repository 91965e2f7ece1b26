import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore

// keras-hub 0.32's vision transformer.

/// Patches of an image as a sequence, behind a stored step, plus a row of a table for each step.
struct PatchingAndEmbedding: KerasLayer {
  static let classes = [SourceLayer](
    "ViTPatchingAndEmbedding", becomes: "convolution, concat, loadConstant, add",
    options: "`patch_size`, `hidden_dim`, `use_class_token`; from keras-hub",
    refused: "channels first, `use_patch_bias` false")

  private let size: [Int]
  private let width: Int
  private let hasToken: Bool

  init(_ configuration: LayerConfiguration) throws {
    size = try configuration.sizes("patch_size", count: 2)
    width = try configuration.int("hidden_dim")
    hasToken = try configuration.bool("use_class_token", default: true)
  }

  var weights: [WeightSlot] {
    WeightSlot.named(hasToken ? "class_token" : nil) + WeightSlot.matrices("patches")
      + [WeightSlot("table")]
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let sizes = JSONValue.array(size.map { .int($0) })
    let image = try call.part(
      "Conv2D", [call.input], "patches",
      ["filters": .int(width), "kernel_size": sizes, "strides": sizes], &network)
    let grid = try call.known(image.shape.dropFirst(), of: image)
    let count = try checkedProduct([grid[0], grid[1]], limit: Limits.dimension)
    var steps = try network.reshaped(
      image, to: [count, width], name: call.name + "__steps__", call)
    if hasToken {
      let token = try call.weight("class_token", [1, 1, width]).shaped([1, width])
      let first = network.constantSequence(token, call.name + "__token__")
      steps = try call.part(
        "Concatenate", [first, steps], "sequence", ["axis": .int(1)], &network)
    }
    let table = try call.weight("table", [count + (hasToken ? 1 : 0), width])
    return [network.adding(table, to: steps, call.name)]
  }
}

/// Blocks of multi-head attention and a network of two matrices, each behind a normalization and
/// added to its input, and a normalization at the end.
struct VisionTransformerEncoder: KerasLayer {
  static let classes = [SourceLayer](
    "ViTEncoder",
    becomes: "innerProducts, matrix products, \(SourceLayer.matrices), softmax",
    options:
      "`num_layers`, `num_heads`, `hidden_dim`, `mlp_dim`, `use_mha_bias`, `use_mlp_bias`; from keras-hub"
  )

  private static let blockLimit = 1024

  private let blocks: Int
  private let heads: Int
  private let width: Int
  private let hidden: Int
  private let hasBias: (attention: Bool, matrices: Bool)
  private let epsilon: Double

  init(_ configuration: LayerConfiguration) throws {
    blocks = try configuration.int("num_layers")
    heads = try configuration.int("num_heads")
    width = try configuration.int("hidden_dim")
    hidden = try configuration.int("mlp_dim")
    hasBias = (
      try configuration.bool("use_mha_bias", default: true),
      try configuration.bool("use_mlp_bias", default: true)
    )
    epsilon = try configuration.double("layer_norm_epsilon", default: 1e-6)
    try configuration.require(
      blocks <= Self.blockLimit && width % heads == 0, "num_layers",
      unsupported: "\(blocks) blocks of \(heads) heads for \(width) channels are not supported")
  }

  /// In the order of the groups in a `.keras` file: that of their names, `block`, `block_1`,
  /// `block_10`, ….
  var weights: [WeightSlot] {
    let names = (0..<blocks).map { Self.name($0) }.sorted()
    return names.flatMap { name in
      ["norm_1", "norm_2"].flatMap { WeightSlot.inside("\(name)/\($0)", "gamma", "beta") }
        + WeightSlot.attention(name + "/attention", hasBias: hasBias.attention)
        + WeightSlot.matrices(name + "/dense_1", name + "/dense_2", hasBias: hasBias.matrices)
    } + WeightSlot.inside("norm", "gamma", "beta")
  }

  private static func name(_ block: Int) -> String { block == 0 ? "block" : "block_\(block)" }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    var x = try call.sequence().input
    try call.require(
      x.channels == width, "its input \(x.shapeText) does not have \(width) channels")
    var attention = KerasAttention(heads: heads, size: width / heads)
    attention.hasBias = hasBias.attention
    for block in 0..<blocks {
      let name = Self.name(block)
      var inner = try call.normalized(x, name + "/norm_1", epsilon: epsilon, &network)
      inner = try attention.attended(inner, inner, name + "/attention", call, &network)
      x = try call.part("Add", [inner, x], name + "/attended", &network)
      inner = try call.normalized(x, name + "/norm_2", epsilon: epsilon, &network)
      inner = try call.dense(
        inner, name + "/dense_1", hidden, hasBias: hasBias.matrices, activation: .string("gelu"),
        &network)
      inner = try call.dense(inner, name + "/dense_2", width, hasBias: hasBias.matrices, &network)
      x = try call.part("Add", [x, inner], name + "/sum", &network)
    }
    return [try call.normalized(x, "norm", epsilon: epsilon, &network)]
  }
}
