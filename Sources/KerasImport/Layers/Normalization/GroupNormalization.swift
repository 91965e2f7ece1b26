import CoreMLModel
import ImportSupport
import TensorCore

/// gamma · (x − mean) / √(variance + epsilon) + beta, with mean and variance over groups of
/// channels and all positions. The groups become channels of a batch normalization that computes
/// its own statistics.
///
/// The layer of keras-contrib splits a channels-last tensor into as many runs of consecutive
/// elements as there are groups, regardless of channels, and applies gamma and beta of channel c
/// mod (channels / groups) of that group.
struct GroupNormalization: KerasLayerSettings {
  static let classes = [SourceLayer](
    "GroupNormalization", becomes: "reshape, batchnorm of each instance, reshape, scale",
    options: "`groups`, −1 for one per channel; `axis`; keras-contrib's variant",
    refused: "volumes with the channels first")

  fileprivate let groups: Int?
  private let isContributed: Bool
  private let axis: Int
  private let epsilon: Double
  private let affine: ScaleAndCenter

  init(_ configuration: LayerConfiguration) throws {
    let stored = try configuration.ints("groups")?.first ?? 32
    try configuration.require(stored > 0 || stored == -1, "groups", unsupported: "\(stored)")
    groups = stored == -1 ? nil : stored
    isContributed = configuration["keras_contrib"] != nil
    axis = try configuration.ints("axis")?.first ?? -1
    epsilon = try configuration.double("epsilon", default: 1e-3)
    affine = try ScaleAndCenter(configuration)
  }

  var weights: [WeightSlot] { affine.weights }

  func convert(_ call: LayerCall, into network: inout KerasWriter) throws -> [KerasTensor] {
    let input = network.standard(try call.input, for: call.name)
    let axis = try call.axis(axis, of: input)
    if isContributed, axis != 1 { return [try contributed(input, axis, call, &network)] }
    guard input.rank == 5 else { return [try normalized(input, axis, call, &network)] }
    // Reshapes a volume to an image, since all positions count equally.
    let sizes = input.shape.dropFirst().compactMap { $0 }
    try call.require(
      axis == 4 && sizes.count == 4 && !input.isShapeAssumed,
      unsupported:
        "its input \(input.shapeText) has the channels first or an unknown size, which is not supported"
    )
    let image = try network.reshaped(
      input,
      to: [
        try checkedProduct([sizes[0], sizes[1]], limit: Limits.dimension), sizes[2], sizes[3],
      ], name: call.name + "__image__", call)
    let result = try normalized(image, 3, call, &network)
    return [
      try network.reshaped(
        result, to: sizes, preferred: call.preferredImage, name: call.name + "__volume__", call)
    ]
  }

  private func normalized(
    _ input: KerasTensor, _ axis: Int, _ call: LayerCall, _ network: inout KerasWriter
  ) throws -> KerasTensor {
    var tensor = input
    let layout = tensor.layout
    tensor = network.relaid(
      tensor, to: try TensorLayout(channel: axis, rank: tensor.rank, call), for: call.name)
    let sizes = [BlobAxis.channel, .height, .width].map { place in
      tensor.index(of: place).map { tensor.shape[$0] } ?? 1
    }
    guard let channels = sizes[0], let height = sizes[1], let width = sizes[2],
      !tensor.isShapeAssumed
    else { throw call.unknownSize(of: tensor) }
    let groups = groups ?? channels
    try call.require(
      channels % groups == 0, "\(channels) channels are not divisible by \(groups) groups")
    func reshape(_ shape: [Int], _ suffix: String) -> String {
      var reshape = Reshape()
      reshape.targetShape = shape
      reshape.mode = .channelFirst
      return network.add(call.name + suffix, reshape, [tensor.blob])
    }
    let isGrouped = groups != channels
    if isGrouped {
      tensor.blob = reshape([groups, channels / groups * height, width], "__groups__")
    }
    tensor.blob = network.add(call.name, standardization(groups), [tensor.blob])
    if isGrouped { tensor.blob = reshape([channels, height, width], "__channels__") }
    let (gamma, beta) = try affine.values(call, [channels])
    let axes = try ReducibleAxes([axis], of: tensor, call)
    tensor.blob = network.scaled(
      tensor.blob, axes, gamma: gamma, beta: beta, call.name + "__scale__")
    return network.relaid(tensor, to: layout, for: call.name + "_back")
  }

  /// Computes (x − mean) / √(variance + epsilon) for each channel.
  private func standardization(_ channels: Int) -> Batchnorm {
    var normalization = Batchnorm()
    normalization.channels = channels
    normalization.computeMeanVar = true
    normalization.instanceNormalization = true
    normalization.epsilon = Float(max(epsilon, 1e-30))
    normalization.gamma = Weights([Float](repeating: 1, count: channels))
    normalization.beta = Weights([Float](repeating: 0, count: channels))
    return normalization
  }

  private func contributed(
    _ input: KerasTensor, _ axis: Int, _ call: LayerCall, _ network: inout KerasWriter
  ) throws -> KerasTensor {
    let sizes = input.shape.dropFirst().compactMap { $0 }
    guard sizes.count == input.rank - 1, !input.isShapeAssumed, let channels = sizes.last else {
      throw call.unknownSize(of: input)
    }
    try call.require(
      axis == input.rank - 1,
      unsupported: "keras-contrib's variant does not support axis \(axis) of \(input.shapeText)",
      hint: "use the last axis")
    let groups = groups ?? channels
    try call.require(
      channels % groups == 0, "\(channels) channels are not divisible into \(groups) groups")
    let each = channels / groups
    let places = try checkedProduct(sizes.dropLast(), limit: Limits.dimension)
    var tensor = try network.reshaped(
      input, to: [groups, places, each], name: call.name + "__groups__", call)
    tensor = network.relaid(tensor, to: try TensorLayout(channel: 1, rank: 4, call), for: call.name)
    tensor.blob = network.add(call.name, standardization(groups), [tensor.blob])
    let (gamma, beta) = try affine.values(call, [channels])
    if gamma != nil || beta != nil {
      tensor = try network.reshaped(
        tensor.reordered([1, 3, 2]), to: [channels, places], name: call.name + "__channels__", call)
      let axes = try ReducibleAxes([1], of: tensor, call)
      tensor = network.relaid(tensor, to: axes.layout, for: call.name + "__scale__")
      tensor.blob = network.scaled(
        tensor.blob, axes, gamma: gamma, beta: beta, call.name + "__scale__")
      tensor = try network.reshaped(
        tensor, to: [groups, each, places], name: call.name + "__scaled__", call
      ).reordered([1, 3, 2])
    }
    return try network.reshaped(
      tensor, to: sizes, preferred: call.preferredImage, name: call.name + "__places__", call)
  }
}

extension TensorLayout {
  /// One axis in the channels and the others in height and width, none in the sequence.
  init(channel axis: Int, rank: Int, _ call: LayerCall) throws {
    try call.require(
      rank <= 4, unsupported: "statistics over the positions of a volume are not supported")
    // Fills the last axes first: a sequence is along the width.
    var free: [BlobAxis] = rank == 4 ? [.height, .width] : [.width]
    axes = (1..<rank).map { $0 == axis ? .channel : free.isEmpty ? .width : free.removeFirst() }
  }
}

/// keras-contrib: gamma · (x − mean) / (deviation + epsilon) + beta over all positions of each
/// channel. TensorFlow Addons: a group normalization with one channel per group.
enum InstanceNormalization: KerasLayer {
  static let classes = [SourceLayer](
    "InstanceNormalization",
    becomes:
      "mvn of the mean, power, reduce avg, sqrt, inverse, multiply, scale (keras-contrib); as GroupNormalization (TensorFlow Addons)",
    options: "`axis`, `scale`, `center`", refused: "volumes")

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    // The class in TensorFlow's examples has none of these settings.
    let isExample = !["axis", "scale", "center", "groups"].contains {
      configuration.fields[$0] != nil
    }
    var fields = configuration
    if isExample { fields.fields["groups"] = .int(-1) }
    let grouped = fields.field("groups") == nil ? nil : try GroupNormalization(fields)
    let axis = try configuration.ints("axis")?.first
    let epsilon = try configuration.double("epsilon", default: 1e-3)
    let affine = try ScaleAndCenter(configuration)
    return conversion(affine.weights) { call, network in
      if let grouped { return try grouped.convert(call, into: &network) }
      var tensor = network.standard(try call.input, for: call.name)
      let layout = tensor.layout
      let channel = try call.axis(axis ?? -1, of: tensor)
      tensor = network.relaid(
        tensor, to: try TensorLayout(channel: channel, rank: tensor.rank, call), for: call.name)
      tensor.blob = network.normalizedByDeviation(
        tensor.blob, acrossChannels: axis == nil, epsilon: Float(max(epsilon, 1e-30)), call.name)
      let count = [axis == nil ? 1 : tensor.isShapeAssumed ? nil : tensor.shape[channel]]
      let (gamma, beta) = try affine.values(call, count)
      let axes = try ReducibleAxes([channel], of: tensor, call)
      tensor.blob = network.scaled(
        tensor.blob, axes, gamma: gamma, beta: beta, call.name + "__scale__")
      return [network.relaid(tensor, to: layout, for: call.name + "_back")]
    }
  }
}
