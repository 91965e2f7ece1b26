import CoreMLModel
import TensorCore

/// A batch normalization with four values per channel: y = scale · (x − mean) / √(variance + 10⁻⁵)
/// + bias.
///
/// This is the formula of Darknet's GPU code, with which networks are trained, and of all of Alexey
/// Bochkovskiy's Darknet. Joseph Redmon's CPU code divides by √variance + 10⁻⁶, OpenCV by
/// √(variance + 10⁻⁶).
struct Normalization: Sendable {
  let scale: FloatValues
  let mean: FloatValues
  let variance: FloatValues

  static let epsilon: Float = 1e-5
  /// Rounding may turn a variance of 0 into a value this negative; anything below is invalid.
  private static let smallest: Float = -1e-6

  /// Reads scale, mean and variance, in file order.
  init(_ channels: Int, from network: inout DarknetWriter, _ call: LayerCall) throws {
    try network.addConstants([channels, 4], call)
    scale = try network.weights.take("scales", [channels], layer: call.name)
    mean = try network.weights.take("means", [channels], layer: call.name)
    let stored = try network.weights.take("variances", [channels], layer: call.name)
    let values = try stored.array()
    if let index = values.firstIndex(where: { !($0 >= Self.smallest) }) {
      throw ModelError(
        .malformed, "the variance of channel \(index) is \(values[index]) in the weights",
        file: network.weights.path, layer: call.name,
        hint: "use the weights that belong to this .cfg")
    }
    variance = values.contains { $0 < 0 } ? FloatValues(values.map { max(0, $0) }) : stored
  }

  func layer(bias: FloatValues) -> Batchnorm {
    var batchnorm = Batchnorm()
    batchnorm.channels = scale.count
    batchnorm.epsilon = Self.epsilon
    batchnorm.gamma = Weights(scale)
    batchnorm.beta = Weights(bias)
    batchnorm.mean = Weights(mean)
    batchnorm.variance = Weights(variance)
    return batchnorm
  }
}
