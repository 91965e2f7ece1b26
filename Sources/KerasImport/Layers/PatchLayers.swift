import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore

// Layers of keras-unet-collection and keras-vision-transformer between images and sequences of patches.

/// Square patches of an image as a sequence.
struct PatchExtract: KerasLayer {
  static let classes = [SourceLayer](
    "patch_extract", "Patches", becomes: "reorganizeData, reshape",
    options: "`patch_size`; Patches of the examples on keras.io",
    refused: "sizes that are not multiples of a patch")

  private let size: Int

  init(_ configuration: LayerConfiguration) throws {
    guard let size = try configuration.ints("patch_size")?.first, size > 0 else {
      throw configuration.missing(["patch_size"])
    }
    self.size = size
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    var image = try call.input
    guard image.rank == 4 else { throw call.error("its input \(image.shapeText) is not an image") }
    if size > 1 {
      image = try OperationTable.convert(
        "space_to_depth", call.with(name: call.name + "__blocks__", inputs: [image]),
        ["block_size": .int(size)], into: &network)[0]
    }
    return [try network.tokens(image, call, call.name)]
  }
}

/// A product with a matrix, and a row of a table for each patch, from the examples on keras.io.
struct PatchEncoder: KerasLayer {
  static let classes = [SourceLayer](
    "PatchEncoder", becomes: "innerProduct, loadConstant, add",
    options: "`num_patches`, `projection_dim`; of the examples on keras.io")
  /// A `.keras` file has them in another order.
  static let hasKnownWeights = false

  private let count: Int
  private let width: Int

  init(_ configuration: LayerConfiguration) throws {
    count = try configuration.int("num_patches")
    width = try configuration.int("projection_dim")
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let (input, steps, channels) = try call.sequence()
    func weight(_ name: String, _ shape: [Int], _ isTable: Bool) throws -> StoredWeight {
      let found = call.weights.filter {
        $0.shape == shape
          && ($0.storedName.contains("position") || $0.storedName.contains("embedding/")) == isTable
      }
      try call.require(
        call.weights.count == 3 && found.count == 1,
        unsupported: "its weights are not those of the class on keras.io")
      return StoredWeight(
        name: name, storedName: found[0].storedName, shape: shape, values: found[0].values)
    }
    try call.require(steps == count, "its input has \(steps) patches, its table \(count)")
    let projection = [
      try weight("projection/kernel", [channels, width], false),
      try weight("projection/bias", [width], false),
    ]
    let inner = call.with(name: call.name, inputs: [input], weights: projection)
    let projected = try inner.dense(input, "projection", width, &network)
    let table = try weight("positions", [count, width], true).values()
    return [network.adding(table, to: projected, call.name)]
  }
}

/// A product with a matrix, and a row of a table for each patch.
struct PatchEmbedding: KerasLayer {
  static let classes = [SourceLayer](
    "patch_embedding", becomes: "innerProduct, loadConstant, add",
    options: "`num_patch`, `embed_dim`")

  private let count: Int
  private let width: Int

  init(_ configuration: LayerConfiguration) throws {
    count = try configuration.int("num_patch")
    width = try configuration.int("embed_dim")
  }

  var weights: [WeightSlot] { WeightSlot.named("kernel", "bias", "embeddings") }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try call.input
    guard input.rank == 3, input.shape[1] == count else {
      throw call.error("its input \(input.shapeText) does not have \(count) patches")
    }
    let inputs = try call.known([input.channels], of: input)[0]
    let product = try network.channelProduct(
      input, Weights(call.weight("kernel", [inputs, width]).transposed([1, 0])), inputs: inputs,
      outputs: width, bias: Weights(call.weight("bias", [width])), call.name + "__dense__")
    let steps = network.relaid(product, to: .steps, for: call.name)
    let table = try call.weight("embeddings", [count, width])
    let constant = LoadConstant(Weights(table.transposed([1, 0])), [width, 1, count])
    let positions = network.add(call.name + "__positions__", constant, [])
    let sum = steps.with(network.sum([steps.blob, positions], call.name))
    return [network.settled(sum, for: call.name)]
  }
}

/// Four neighboring patches side by side times a matrix.
struct PatchMerging: KerasLayer {
  static let classes = [SourceLayer](
    "patch_merging", becomes: "reshape, reorganizeData, innerProduct",
    options: "`num_patch`, `embed_dim`")

  private let sizes: [Int]
  private let width: Int

  init(_ configuration: LayerConfiguration) throws {
    sizes = try configuration.sizes("num_patch", count: 2)
    width = try configuration.int("embed_dim")
  }

  var weights: [WeightSlot] { WeightSlot.named("kernel") }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let image = try network.grid(call.input, sizes, call)
    guard let channels = image.channels else { throw call.unknownSize(of: image) }
    let blocks = try OperationTable.convert(
      "space_to_depth", call.with(name: call.name + "__blocks__", inputs: [image]),
      ["block_size": .int(2)], into: &network)[0]
    let outputs = try checkedProduct([2, width], limit: Limits.dimension)
    let inputs = try checkedProduct([4, channels], limit: Limits.dimension)
    // Keras takes the patches of a column first, blocks those of a row.
    let kernel = try call.weight("kernel", [inputs, outputs]).shaped([2, 2, channels, outputs])
      .transposed([3, 1, 0, 2])
    let tokens = try network.tokens(blocks, call, call.name + "__tokens__")
    return [
      network.channelProduct(tokens, Weights(kernel), inputs: inputs, outputs: outputs, call.name)
    ]
  }
}

/// A product with a matrix, and blocks of channels as patches.
struct PatchExpanding: KerasLayer {
  static let classes = [SourceLayer](
    "patch_expanding", becomes: "reshape, innerProduct, reorganizeData",
    options: "`num_patch`, `embed_dim`, `upsample_rate`, `return_vector`")

  private let sizes: [Int]
  private let width: Int
  private let factor: Int
  private let returnsVector: Bool

  init(_ configuration: LayerConfiguration) throws {
    sizes = try configuration.sizes("num_patch", count: 2)
    width = try configuration.int("embed_dim")
    factor = try configuration.int("upsample_rate", atLeast: 2)
    returnsVector = try configuration.bool("return_vector", default: true)
  }

  var weights: [WeightSlot] { WeightSlot.named("kernel") }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let image = try network.grid(call.input, sizes, call)
    guard let channels = image.channels else { throw call.unknownSize(of: image) }
    let outputs = try checkedProduct([factor, width], limit: Limits.dimension)
    let kernel = try call.weight("kernel", [1, 1, channels, outputs]).shaped([channels, outputs])
    let product = network.channelProduct(
      image, Weights(kernel.transposed([1, 0])), inputs: channels, outputs: outputs,
      call.name + "__dense__")
    let blocks = try OperationTable.convert(
      "depth_to_space",
      call.with(
        name: returnsVector ? call.name + "__blocks__" : call.name,
        inputs: [network.settled(product, for: call.name)]), ["block_size": .int(factor)],
      into: &network)[0]
    return [returnsVector ? try network.tokens(blocks, call, call.name) : blocks]
  }
}

extension NetworkWriter {
  /// The places of an image as a sequence.
  fileprivate mutating func tokens(
    _ image: KerasTensor, _ call: LayerCall, _ name: String
  ) throws -> KerasTensor {
    let sizes = try call.known(image.shape.dropFirst(), of: image)
    return try reshaped(
      image, to: [try checkedProduct([sizes[0], sizes[1]], limit: Limits.dimension), sizes[2]],
      name: name, call)
  }

  /// A sequence of patches as an image.
  fileprivate mutating func grid(
    _ tokens: KerasTensor, _ sizes: [Int], _ call: LayerCall
  ) throws -> KerasTensor {
    guard tokens.rank == 3, let channels = tokens.channels,
      tokens.shape[1] == (try checkedProduct(sizes, limit: Limits.dimension))
    else {
      throw call.error(
        "its input \(tokens.shapeText) does not have \(sizes[0]) × \(sizes[1]) patches")
    }
    return try reshaped(
      tokens, to: sizes + [channels], preferred: .channelsLast, name: call.name + "__grid__", call)
  }
}
