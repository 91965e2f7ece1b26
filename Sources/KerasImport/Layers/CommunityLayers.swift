import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore

// Layers that collections of networks share, under the names used there.

/// gamma · x / √(max(Σ x², 1e-12)) along the channels, from SSD.
struct L2Normalization: KerasLayer {
  static let classes = [SourceLayer](
    "L2Normalization", "Normalize2D", "Normalize",
    becomes: "a sum of squares, a reciprocal square root, a product, scale",
    options: "from SSD networks: along the last axis")

  private let normalization: UnitNormalization

  init(_ configuration: LayerConfiguration) throws {
    try configuration.require(
      configuration.kind != "Normalize" || configuration.field("scale") != nil, nil,
      unsupported: "only the class of SSD networks, with a scale, is supported")
    normalization = try UnitNormalization(configuration)
  }

  var weights: [WeightSlot] { [WeightSlot("gamma")] }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try call.input
    let gamma = try call.weight("gamma", [input.channels])
    let unit = try normalization.convert(
      call.with(name: call.name + "__unit__", inputs: [input]), into: &network)
    return unit.map {
      network.add(
        call.name, Scale(Weights(gamma), gamma.shape), to: $0, along: input.rank - 1)
    }
  }
}

/// Moves channels into blocks of pixels like TensorFlow's `depth_to_space`, from keras-contrib.
struct SubPixelUpscaling: KerasLayer {
  static let classes = [SourceLayer](
    "SubPixelUpscaling", "PixelShuffler", "DepthToSpace", becomes: "reorganizeData",
    options:
      "`scale_factor`; from keras-contrib; `size`; from faceswap; `block_size`; from keras.io",
    refused: "channels first, two factors")

  private let factor: Int

  init(_ configuration: LayerConfiguration) throws {
    let fields = ["PixelShuffler": "size", "DepthToSpace": "block_size"]
    let factors = try configuration.ints(fields[configuration.kind] ?? "scale_factor") ?? [2]
    guard let factor = factors.first, factor > 0, Set(factors).count == 1 else {
      throw configuration.unsupported("size", "\(factors) is not supported")
    }
    self.factor = factor
    try configuration.require(
      configuration.dataFormat != .channelsFirst, "data_format", unsupported: "channels first")
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    guard factor > 1 else { return [try call.input] }
    return try OperationTable.convert(
      "depth_to_space", call, ["block_size": .int(factor)], into: &network)
  }
}

/// gamma · x + beta along one axis, from the DenseNets and ResNets that were converted from Caffe.
struct ScaleAlongAxis: KerasLayer {
  static let classes = [SourceLayer](
    "Scale", becomes: "scale", options: "`axis`; from networks converted from Caffe",
    refused: "other classes of this name")

  private let axis: Int

  init(_ configuration: LayerConfiguration) throws {
    guard configuration.field("momentum") != nil, let (_, value) = configuration.field("axis"),
      let axis = value.int
    else {
      throw configuration.unsupported(
        nil, "this variant of the class is not known: it has no 'axis' and 'momentum'")
    }
    self.axis = axis
  }

  var weights: [WeightSlot] { [WeightSlot("gamma"), WeightSlot("beta")] }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try call.input
    let axis = try call.axis(axis, of: input)
    let gamma = try call.weight("gamma", [input.shape[axis]])
    let beta = try call.weight("beta", [input.shape[axis]])
    return [
      network.withChannelAxis(axis, of: [input], for: call.name) { network, tensors in
        var scale = CoreMLModel.Scale(Weights(gamma), gamma.shape)
        scale.hasBias = true
        scale.bias = Weights(beta)
        scale.shapeBias = beta.shape
        return tensors[0].with(network.add(call.name, scale, [tensors[0].blob]))
      }
    ]
  }
}

/// The first input resized to the rows and columns of the second, from keras-retinanet: each
/// position takes the element at ⌊position · from / to⌋.
struct UpsampleLike: KerasLayer {
  static let classes = [SourceLayer](
    "UpsampleLike", becomes: "upsample; two 1 × 1 convolutions if the factors are not whole",
    options: "from keras-retinanet", refused: "unknown sizes")

  private let format: LayerConfiguration.DataFormat

  init(_ configuration: LayerConfiguration) throws {
    format = try configuration.dataFormat ?? .channelsLast
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    try call.require(call.inputs.count == 2, "it takes two inputs, not \(call.inputs.count)")
    let image = try network.image(call.inputs[0], format, call)
    let sizes = try call.sizes(try network.image(call.inputs[1], format, call))
    let given = try call.sizes(image)
    guard zip(given, sizes).allSatisfy({ $1 % $0 == 0 }) else {
      return [try network.resampled(image, to: sizes, .nearestBelow, call)]
    }
    var result = image
    for (place, size) in zip([BlobAxis.height, .width], sizes) {
      if let index = image.index(of: place) { result.shape[index] = size }
    }
    result.blob = network.add(
      call.name, Upsample(zip(given, sizes).map { $1 / $0 }), [image.blob])
    return [result]
  }
}
