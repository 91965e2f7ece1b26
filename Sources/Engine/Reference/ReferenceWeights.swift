import CoreMLModel
import TensorCore

extension Weights? {
  /// The values of a weight with `shape`; errors name the field.
  /// - Parameter channelAxis: the axis of the output channels, along which quantization may vary.
  func values(_ shape: [Int], _ field: String, channelAxis: Int = 0) throws -> [Float] {
    guard let self else { throw ModelError(.malformed, "is missing", field: field) }
    return try NamedWeights(field, shape, self, channelAxis: channelAxis).decoded().array()
  }

  /// `count` biases, or zeros if the layer has none.
  func biases(_ count: Int, areUsed: Bool) throws -> [Float] {
    areUsed ? try values([count], "bias") : [Float](repeating: 0, count: count)
  }
}
