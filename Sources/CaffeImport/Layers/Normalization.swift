import CoreMLModel
import Formulas
import ImportSupport

/// x / (k + alpha / n · Σ x²) ^ beta over n channels, or over an n × n window in each channel
enum LRNLayer: SingleInputConverter {
  static let source = SourceLayer(
    "LRN", becomes: "lrn; within a channel multiply, pooling average, unary power, multiply",
    options: "`local_size`, `alpha`, `beta`, `k`, `norm_region`")

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
    let parameters = layer.parameters("lrn_param")
    let size = try parameters.int("local_size", atLeast: 1)
    try parameters.require(
      size % 2 == 1, "local_size", "\(size) is even", hint: "Caffe accepts odd sizes only")
    try layer.requireImages(layer.input)
    let image = network.images(layer.input, for: layer.name)
    let alpha = try parameters.float("alpha")
    let beta = try parameters.float("beta")
    if try parameters.symbol("norm_region") == "WITHIN_CHANNEL" {
      return image.with(network.normalizedWithin(image.blob, size, alpha: alpha, beta: beta, layer))
    }
    var lrn = LRN()
    lrn.alpha = alpha
    lrn.beta = beta
    lrn.localSize = size
    lrn.k = try parameters.float("k").orSmallest
    return network.add(lrn, image, as: layer)
  }
}

extension Float {
  /// The value, or the smallest normal number instead of 0, which Core ML reads as a missing field.
  var orSmallest: Float { self == 0 ? .leastNormalMagnitude : self }
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
}

/// (x − mean) / (standard deviation + eps), over H · W or over C · H · W
enum MVN: SingleInputConverter {
  static let source = SourceLayer(
    "MVN",
    becomes:
      "mvn; with an `eps` above 1e-8 mvn of the mean, power, reduce avg, sqrt, inverse, multiply",
    options: "`normalize_variance`, `across_channels`, `eps`")

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
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
}

/// x / √(Σ x² + eps), times a scale per channel (SSD)
enum NormalizeLayer: SingleInputConverter {
  static let source = SourceLayer(
    "Normalize",
    becomes: "l2normalize, scale; reduce sumsquare over C, unary rsqrt, multiply, scale",
    options: "`across_spatial`, `channel_shared`, `eps`")

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
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
}

extension CaffeWriter {
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
}
