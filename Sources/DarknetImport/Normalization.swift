import CoreMLModel
import TensorCore

/// The four numbers of each channel of a batch normalisation:
/// y = scale · (x − mean) / (√variance + 10⁻⁶) + bias.
///
/// That is what Darknet computes on the CPU. On GPUs, and in Alexey Bochkovskiy's Darknet
/// everywhere, the divisor is √(variance + 10⁻⁵); in OpenCV √(variance + 10⁻⁶).
struct Normalization: Sendable {
  let scale: FloatValues
  let mean: FloatValues
  let variance: FloatValues

  static let epsilon = 1e-6

  /// Takes scale, mean and variance, in the file's order.
  init(_ channels: Int, from network: inout DarknetNetwork, _ call: SectionCall) throws {
    try network.addConstants([channels, 4], call)
    scale = try network.weights.take("scales", [channels], layer: call.name)
    mean = try network.weights.take("means", [channels], layer: call.name)
    variance = try network.weights.take("variances", [channels], layer: call.name)
    for (index, value) in variance.array().enumerated() where !(value >= 0) {
      throw call.error(
        "the variance of channel \(index) is \(value) in the weights",
        hint: "the weights belong to another .cfg")
    }
  }

  /// Folded, in double precision: gamma = scale / (√variance + 10⁻⁶), beta = bias − gamma · mean,
  /// with a mean of 0 and a variance of 1 − 1e-5 that the layer's own epsilon completes.
  func layer(bias: FloatValues) -> Batchnorm {
    let (scales, means, biases) = (scale.array(), mean.array(), bias.array())
    var gamma: [Float] = []
    var beta: [Float] = []
    for (index, value) in variance.array().enumerated() {
      let factor = Double(scales[index]) / (Double(value).squareRoot() + Self.epsilon)
      gamma.append(Float(factor))
      beta.append(Float(Double(biases[index]) - factor * Double(means[index])))
    }
    var batchnorm = Batchnorm()
    batchnorm.channels = gamma.count
    batchnorm.epsilon = 1e-5
    batchnorm.gamma = Weights(gamma)
    batchnorm.beta = Weights(beta)
    batchnorm.mean = Weights([Float](repeating: 0, count: gamma.count))
    batchnorm.variance = Weights([Float](repeating: 1 - 1e-5, count: gamma.count))
    return batchnorm
  }
}
