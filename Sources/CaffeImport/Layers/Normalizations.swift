import CoreMLModel
import Formulas
import ImportSupport
import TensorCore

extension CaffeLayerType {
  /// x / (k + alpha / n · Σ x²) ^ beta over n channels, or over an n × n window in each channel
  static let lrn = single(
    SourceLayer(
      "LRN", becomes: "lrn; within a channel multiply, pooling average, unary power, multiply",
      options: "`local_size`, `alpha`, `beta`, `k`, `norm_region`")
  ) { layer, network in
    let parameters = layer.parameters("lrn_param")
    let size = try parameters.int("local_size", atLeast: 1)
    try parameters.require(
      size % 2 == 1, "local_size", "\(size) is even", hint: "Caffe accepts odd sizes only")
    try layer.requireImages(layer.input)
    let image = network.images(layer.input, for: layer.name)
    let alpha = try parameters.float("alpha")
    let beta = try parameters.float("beta")
    let isWithinChannel = try parameters.choice(
      "norm_region", of: ["ACROSS_CHANNELS": false, "WITHIN_CHANNEL": true])
    if isWithinChannel {
      return image.with(network.normalizedWithin(image.blob, size, alpha: alpha, beta: beta, layer))
    }
    var lrn = LRN()
    lrn.alpha = alpha
    lrn.beta = beta
    lrn.localSize = size
    lrn.k = try parameters.float("k").orSmallest
    return network.add(lrn, image, as: layer)
  }

  /// (x − mean) / (standard deviation + eps), over H · W or over C · H · W
  static let mvn = single(
    SourceLayer(
      "MVN",
      becomes:
        "mvn; with an `eps` above 1e-8 mvn of the mean, power, reduce avg, sqrt, inverse, multiply",
      options: "`normalize_variance`, `across_channels`, `eps`")
  ) { layer, network in
    let parameters = layer.parameters("mvn_param")
    let image = try network.channelled(layer.input, for: layer)
    let acrossChannels = try parameters.bool("across_channels")
    let epsilon = try parameters.float("eps").orSmallest
    if try parameters.bool("normalize_variance") {
      return image.with(
        network.normalizedByDeviation(
          image.blob, acrossChannels: acrossChannels, epsilon: epsilon, layer.name,
          to: layer.tops[0]))
    }
    var mvn = MeanVarianceNormalize()
    mvn.acrossChannels = acrossChannels
    mvn.epsilon = epsilon
    return network.add(mvn, image, as: layer)
  }

  /// x / √(Σ x² + eps), times a scale per channel (SSD)
  static let normalize = single(
    SourceLayer(
      "Normalize",
      becomes: "l2normalize, scale; reduce sumsquare over C, unary rsqrt, multiply, scale",
      options: "`across_spatial`, `channel_shared`, `eps`")
  ) { layer, network in
    let parameters = layer.parameters("norm_param")
    let image = try network.channelled(layer.input, for: layer)
    let epsilon = try parameters.float("eps").orSmallest
    let isShared = try parameters.bool("channel_shared")
    let factors = try layer.vector(0, "scale", count: isShared ? 1 : layer.input.shape[1])

    let normalized: String
    if try parameters.bool("across_spatial") {
      var normalize = L2Normalize()
      normalize.epsilon = epsilon
      normalized = network.add(layer.part("normalize"), normalize, [image.blob])
    } else {
      let sums = network.reduced(.sumsquare, .c, image.blob, layer.part("squares"))
      let inverse = network.unary(.rsqrt, sums, layer.part("inverse"), epsilon: epsilon)
      normalized = network.product(image.blob, inverse, layer.part("normalize"))
    }
    var scale = CoreMLModel.Scale()
    scale.shapeScale = [factors.count]
    scale.scale = Weights(factors)
    return image.with(network.add(layer.name, scale, [normalized], to: layer.tops[0]))
  }

  /// (x − mean) / √(variance + eps), with mean and variance divided by the third blob
  static let batchNorm = single(
    SourceLayer(
      "BatchNorm",
      becomes: "batchnorm; with the statistics of the image if `use_global_stats` is false",
      options:
        "`eps`, `use_global_stats`; a third blob of 0 makes mean and variance 0; NVIDIA's `scale_bias` "
        + "and Intel's fourth and fifth blobs: scale and shift",
      refused: "statistics over a batch of several images")
  ) { layer, network in
    let input = layer.input
    let parameters = layer.parameters("batch_norm_param")
    let axis = min(1, input.shape.count - 1)
    guard axis >= 0 else { throw layer.error("its bottom is a scalar") }
    let channels = input.shape[axis]
    var norm = Batchnorm()
    norm.epsilon = try parameters.float("eps").orSmallest
    if try parameters.bool("use_global_stats", default: true) {
      let factor = try layer.vector(2, "scale factor", count: 1).array()[0]
      let inverse = factor == 0 ? 0 : 1 / factor
      norm.mean = try layer.vector(0, "mean", count: channels).multiplied(by: inverse)
      norm.variance = try layer.vector(1, "variance", count: channels).multiplied(by: inverse)
    } else {
      try norm.useStatistics(of: input, layer, field: "batch_norm_param.use_global_stats")
    }
    // NVIDIA's and Intel's layers include the scale and shift that BVLC leaves to a Scale layer.
    let isScaled =
      try parameters.bool("scale_bias", default: false) || parameters.has("scale_filler")
    if isScaled || layer.blobs.count > 3 {
      norm.gamma = Weights(try layer.vector(3, "scale", count: channels))
      if isScaled || layer.blobs.count > 4 {
        norm.beta = Weights(try layer.vector(4, "bias", count: channels))
      }
    }
    return network.normalized(input, axis, norm, layer)
  }.withBatchAxis { layer, batch in
    let isGlobal = try layer.parameters("batch_norm_param").bool(
      "use_global_stats", default: true)
    return isGlobal && batch.axis == 0 ? 0 : nil
  }

  /// Scale and shift per channel (SegNet), or also with mean and variance (PSPNet).
  static let bn = single(
    SourceLayer(
      "BN", "SyncBN", "BatchNormalization",
      becomes:
        "scale with two blobs (`bn_mode: INFERENCE`); batchnorm with four (scale, shift, mean, variance) "
        + "and with two and `bn_mode: LEARN`", options: "`bn_param.bn_mode`, `bn_param.eps`",
      refused: "statistics over a batch of several images")
  ) { layer, network in
    let input = layer.input
    try layer.require(input.shape.count >= 2, "its bottom \(input.shapeText) has no channel axis")
    let parameters = layer.parameters("bn_param")
    let channels = input.shape[1]
    let factors = try layer.vector(0, "scale", count: channels)
    let shifts = try layer.vector(1, "bias", count: channels)
    let isWhole = layer.blobs.count >= 4
    let isInference = try parameters.choice(
      "bn_mode", default: "LEARN", of: ["LEARN": false, "INFERENCE": true])
    if !isWhole, isInference || parameters.has("frozen") {
      let moved = network.placed(input, axis: 1, in: Placement.channel, for: layer.name)
      return try network.scaled(moved, BroadcastAxes(channelsOf: moved), factors, shifts, layer)
    }
    var norm = Batchnorm()
    norm.gamma = Weights(factors)
    norm.beta = Weights(shifts)
    if isWhole {
      norm.epsilon = try parameters.float("eps", default: 1e-5).orSmallest
      norm.mean = Weights(try layer.vector(2, "mean", count: channels))
      norm.variance = Weights(try layer.vector(3, "variance", count: channels))
    } else {
      norm.epsilon = try parameters.float("eps", default: 1e-9).orSmallest
      try norm.useStatistics(of: input, layer, field: "bn_param.bn_mode")
    }
    return network.normalized(input, 1, norm, layer)
  }

  /// exp(x) / Σ exp(x) along an axis
  static let softmax = single(
    SourceLayer(
      "Softmax", becomes: "softmax, wrapped in permutes if the axis is not C",
      options: "`axis`, any"),
    batchAxis: besides { try $0.parameters("softmax_param").axis(of: $0.input) }
  ) { layer, network in
    let axis = try layer.parameters("softmax_param").axis(of: layer.input)
    return network.withChannels(layer.input, axis, layer) { network, moved, output in
      network.add(layer.name, Softmax(), [moved.blob], to: output)
    }
  }
}

extension Float {
  /// The value, or the smallest normal number instead of 0, which Core ML reads as a missing field.
  var orSmallest: Float { self == 0 ? .leastNormalMagnitude : self }
}

extension Batchnorm {
  /// Normalizes with the mean and variance of the image, as in training.
  fileprivate mutating func useStatistics(
    of input: CaffeTensor, _ layer: LayerCall, field: String
  ) throws {
    try layer.require(
      input.shape.count > 1 && input.shape[0] == 1,
      unsupported: "statistics over \(input.shape.first ?? 0) images at once", field: field,
      hint: "a batch of one is supported")
    computeMeanVar = true
    instanceNormalization = true
  }
}

extension FloatValues {
  fileprivate func multiplied(by factor: Float) throws -> Weights {
    factor == 1 ? Weights(self) : Weights(try map { $0 * factor })
  }
}

extension CaffeWriter {
  /// A tensor of four axes with the last three in C, H and W.
  mutating func images(_ tensor: CaffeTensor, for name: String) -> CaffeTensor {
    let input = five(tensor, for: name)
    if Array(input.axes.suffix(3)) == [Placement.channel, Placement.height, Placement.width] {
      return input
    }
    return placed(input, for: name)
  }

  /// x · (1 + alpha · mean of x² over the window, including zero padding) ^ −beta
  fileprivate mutating func normalizedWithin(
    _ blob: String, _ size: Int, alpha: Float, beta: Float, _ layer: LayerCall
  ) -> String {
    if alpha == 0 {
      return add(layer.name, Activation(.linear(alpha: 1, beta: 0)), [blob], to: layer.tops[0])
    }
    let squares = product(blob, blob, layer.part("squares"))
    var pooling = Pooling()
    pooling.type = .average
    pooling.kernelSize = [size, size]
    pooling.stride = [1, 1]
    let border = (size - 1) / 2
    pooling.padding = .valid(.around(border))
    let means = add(layer.part("means"), pooling, [squares])
    let factors = unary(
      .power, means, layer.part("factors"), alpha: -beta, shift: 1, scale: alpha, epsilon: 0)
    return product(blob, factors, layer.name, to: layer.tops[0])
  }

  /// An (N, C), (N, C, H) or (N, C, H, W) tensor on the corresponding axes of Core ML.
  fileprivate mutating func channelled(
    _ input: CaffeTensor, for layer: LayerCall
  ) throws -> CaffeTensor {
    guard (2...4).contains(input.shape.count) else {
      throw layer.error("its bottom \(input.shapeText) must have two to four axes")
    }
    let positions = [Placement.batch, Placement.channel, Placement.height, Placement.width]
    return placed(input, axes: Array(positions.prefix(input.shape.count)), for: layer.name)
  }

  fileprivate mutating func normalized(
    _ input: CaffeTensor, _ axis: Int, _ norm: Batchnorm, _ layer: LayerCall
  ) -> CaffeTensor {
    var norm = norm
    norm.channels = input.shape[axis]
    norm.gamma = norm.gamma ?? Weights(FloatValues(repeating: 1, shape: [norm.channels]))
    norm.beta = norm.beta ?? Weights(FloatValues(repeating: 0, shape: [norm.channels]))
    return withChannels(input, axis, layer) { network, moved, output in
      network.add(layer.name, norm, [moved.blob], to: output)
    }
  }
}
