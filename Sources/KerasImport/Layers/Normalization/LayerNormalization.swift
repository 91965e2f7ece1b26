import CoreMLModel
import ImportSupport
import TensorCore

/// Axes of a tensor, in a layout in which Core ML can reduce over all of them at once.
struct ReducibleAxes {
  let layout: TensorLayout
  let reduction: Reduce.Axis
  /// The blob axes, in the order of Keras's axes.
  let places: [BlobAxis]

  /// - Parameter axes: Keras's indices, counting the batch.
  init(_ axes: [Int], of tensor: KerasTensor, _ call: LayerCall) throws {
    let axes = Set(axes).sorted()
    let places: [BlobAxis]
    switch axes.count {
    case 1: (places, reduction) = ([.channel], .c)
    case 2: (places, reduction) = ([.height, .width], .hw)
    case 3: (places, reduction) = ([.channel, .height, .width], .chw)
    default:
      throw call.unsupported(
        "\(axes.count) axes at once are not supported: Core ML's layers reduce at most three")
    }
    // Other axes keep their blob axis if it is free.
    var free = BlobAxis.allCases.filter { !places.contains($0) }
    var layout = tensor.layout.axes
    for (axis, place) in zip(axes, places) { layout[axis - 1] = place }
    let others = layout.indices.filter { !axes.contains($0 + 1) }
    let kept = others.filter { free.contains(tensor.layout.axes[$0]) }
    free.removeAll { place in kept.contains { tensor.layout.axes[$0] == place } }
    for index in others where !kept.contains(index) { layout[index] = free.removeFirst() }
    self.layout = TensorLayout(axes: layout)
    self.places = places
  }

  /// The shape of a constant along the axes, such that Core ML broadcasts it to a blob.
  func constantShape(_ sizes: [Int]) -> [Int] {
    switch places.count {
    case 1: sizes
    case 2: [1] + sizes
    default: sizes
    }
  }
}

extension KerasWriter {
  /// gamma · x + beta, with one gamma and one beta per position along the axes `indices`.
  mutating func scaled(
    _ x: KerasTensor, along indices: [Int], gamma: FloatValues, beta: FloatValues? = nil,
    _ call: LayerCall
  ) throws -> KerasTensor {
    let places = try ReducibleAxes(indices, of: x, call)
    let moved = relaid(x, to: places.layout, for: call.name)
    let result = scaled(moved.blob, places, gamma: gamma, beta: beta, call.name)
    return settled(moved.with(result), for: call.name + "_back")
  }

  /// gamma · x + beta, with constants along some axes.
  mutating func scaled(
    _ blob: String, _ axes: ReducibleAxes, gamma: FloatValues?, beta: FloatValues?,
    _ name: String
  ) -> String {
    if let gamma {
      var scale = Scale(Weights(gamma), axes.constantShape(gamma.shape))
      if let beta {
        scale.hasBias = true
        scale.shapeBias = axes.constantShape(beta.shape)
        scale.bias = Weights(beta)
      }
      return add(name, scale, [blob])
    }
    guard let beta else { return blob }
    return add(name, Bias(Weights(beta), axes.constantShape(beta.shape)), [blob])
  }
}

/// gamma · (x − mean) / √(variance + epsilon) + beta, with mean and variance over some axes of each
/// item. With `rms_scaling`, gamma · x / √(variance + epsilon); in RMSNormalization, gamma · x /
/// √(mean of x² + epsilon).
struct LayerNormalization: KerasLayerSettings {
  static let classes = [SourceLayer](
    "LayerNormalization", "RMSNormalization",
    becomes: "means, a reciprocal square root and a scale",
    options: "`axis`, up to three; `rms_scaling`; RMSNormalization", refused: "four axes of five")
  static let maskPolicy = MaskPolicy.decides

  private let axes: [Int]
  private let epsilon: Double
  private let affine: ScaleAndCenter
  /// Whether the mean is not subtracted, neither from the result nor in the variance.
  private let keepsMean: Bool
  private let isRootMeanSquare: Bool

  static let leadingAxes = LeadingAxesPolicy.keeps

  init(_ configuration: LayerConfiguration) throws {
    axes = try configuration.ints("axis") ?? [-1]
    isRootMeanSquare = configuration.kind.contains("RMSNormalization")
    epsilon = try configuration.double("epsilon", default: isRootMeanSquare ? 1e-6 : 1e-3)
    keepsMean = try isRootMeanSquare || configuration.bool("rms_scaling", default: false)
    let stored = try ScaleAndCenter(configuration)
    affine = ScaleAndCenter(
      hasScale: keepsMean && !isRootMeanSquare || stored.hasScale,
      hasCenter: !keepsMean && stored.hasCenter)
  }

  var weights: [WeightSlot] { affine.weights }

  func convert(_ call: LayerCall, into network: inout KerasWriter) throws -> [KerasTensor] {
    let input = network.standard(try call.input, for: call.name)
    let indices = try Set(axes.map { try call.axis($0, of: input) }).sorted()
    var result = try normalized(input, indices, call, &network)
    // RMSNormalization does not support masks.
    result.mask = isRootMeanSquare ? nil : call.inputs[0].mask
    return [result]
  }

  private func normalized(
    _ input: KerasTensor, _ indices: [Int], _ call: LayerCall, _ network: inout KerasWriter
  ) throws -> KerasTensor {
    guard indices.count > 3 else {
      return try normalized(input, indices, weights: nil, call, &network)
    }
    // Reshapes all elements of an item to a vector.
    let sizes = input.shape.dropFirst().compactMap { $0 }
    guard indices.count == input.rank - 1, sizes.count == indices.count, !input.isShapeAssumed
    else { throw call.unsupported("the axes \(indices) do not exist in \(input.shapeText)") }
    let vector = try network.reshaped(
      input, to: [try checkedProduct(sizes, limit: Limits.tensorElements)],
      name: call.name + "__vector__", call)
    let result = try normalized(vector, [1], weights: sizes, call, &network)
    return try network.reshaped(
      result, to: sizes, preferred: call.preferredImage, name: call.name + "__volume__", call)
  }

  /// - Parameter sizes: the sizes of the weights, if their axes differ from the tensor's.
  private func normalized(
    _ input: KerasTensor, _ indices: [Int], weights sizes: [Int]?, _ call: LayerCall,
    _ network: inout KerasWriter
  ) throws -> KerasTensor {
    var tensor = input
    let layout = tensor.layout
    let axes = try ReducibleAxes(indices, of: tensor, call)
    let shape =
      sizes.map { $0.map { Int?($0) } }
      ?? indices.map { tensor.isShapeAssumed ? nil : tensor.shape[$0] }
    var (gamma, beta) = try affine.values(call, shape)
    if sizes != nil {
      gamma = gamma.map { $0.shaped([$0.shape.reduce(1, *)]) }
      beta = beta.map { $0.shaped([$0.shape.reduce(1, *)]) }
    }
    tensor = network.relaid(tensor, to: axes.layout, for: call.name)
    let name = call.name
    var centered = tensor.blob
    if !isRootMeanSquare {
      let mean = network.reduced(.avg, axes.reduction, tensor.blob, name + "__mean__")
      centered = network.difference(tensor.blob, mean, name + "__centered__")
    }
    let square = network.product(centered, centered, name + "__square__")
    let variance = network.reduced(.avg, axes.reduction, square, name + "__variance__")
    let factor = network.unary(
      .rsqrt, variance, name + "__rsqrt__", epsilon: Float(max(epsilon, 1e-30)))
    let normalized = network.product(keepsMean ? tensor.blob : centered, factor, name)
    let last = Array(input.rank - indices.count..<input.rank)
    if isRootMeanSquare, indices != last, let gamma {
      // Keras broadcasts the scale, so it applies along the last axes, whatever `axis` is.
      try call.require(
        zip(last, gamma.shape).allSatisfy { input.shape[$0] == $1 },
        unsupported: "its scale of shape \(KerasTensor.text(gamma.shape)) does not have the size "
          + "of the last axes of \(input.shapeText), to which Keras applies it")
      let result = network.relaid(tensor.with(normalized), to: layout, for: name + "_back")
      return try network.scaled(result, along: last, gamma: gamma, call)
    }
    tensor.blob = network.scaled(normalized, axes, gamma: gamma, beta: beta, name + "__scale__")
    return network.relaid(tensor, to: layout, for: name + "_back")
  }
}

/// x / √(max(Σ x², 1e-12)) over some axes.
enum UnitNormalization: KerasLayer {
  static let classes = [SourceLayer](
    "UnitNormalization", becomes: "a sum of squares, a reciprocal square root, a product",
    options: "`axis`")
  static let maskPolicy = MaskPolicy.passes

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let axes = try configuration.ints("axis") ?? [-1]
    return conversion { call, network in
      var tensor = network.standard(try call.input, for: call.name)
      let layout = tensor.layout
      let axes = try ReducibleAxes(
        try axes.map { try call.axis($0, of: tensor) }, of: tensor, call)
      tensor = network.relaid(tensor, to: axes.layout, for: call.name)
      tensor.blob = network.unitNormalized(tensor.blob, axes.reduction, call.name)
      return [network.relaid(tensor, to: layout, for: call.name + "_back")]
    }
  }
}

extension KerasWriter {
  /// x / √(max(Σ x², 1e-12))
  mutating func unitNormalized(_ blob: String, _ axis: Reduce.Axis, _ name: String) -> String {
    let sum = reduced(.sumsquare, axis, blob, name + "__sum__")
    let limited = unary(.threshold, sum, name + "__limit__", alpha: 1e-12)
    let factor = unary(.rsqrt, limited, name + "__rsqrt__", epsilon: 1e-30)
    return product(blob, factor, name)
  }
}
