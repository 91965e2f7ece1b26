import CoreMLModel
import TensorCore

/// A mean image that is subtracted element by element.
package struct MeanImage: Sendable, Equatable {
  /// The source file, for messages.
  package var name: String
  package var channels: Int
  package var height: Int
  package var width: Int
  /// `[C, H, W]`, with channels in the network's order.
  package var values: [Float]

  /// - Throws: `.malformed` if the number of values does not match the sizes.
  package init(name: String, channels: Int, height: Int, width: Int, values: [Float]) throws {
    let count = try checkedProduct([channels, height, width], limit: Limits.tensorElements)
    try require(
      count > 0 && values.count == count,
      "\(values.count) values; \(channels) × \(height) × \(width) are needed", file: name)
    self.name = name
    self.channels = channels
    self.height = height
    self.width = width
    self.values = values
  }

  /// The preprocessing of an image; a larger mean image is center-cropped.
  package func preprocessing(_ feature: String, _ type: ImageFeatureType) throws
    -> NeuralNetworkPreprocessing
  {
    try require(
      channels == type.colorSpace.channelCount, .mismatch,
      "it has \(channels) channels, but input '\(feature)' has \(type.colorSpace.channelCount)",
      file: name)
    try require(
      height >= type.height && width >= type.width, .mismatch,
      "it is \(width) × \(height), smaller than the input '\(feature)' of "
        + "\(type.width) × \(type.height)", file: name,
      hint: "a mean image must be as large as the input, or larger, to be cropped to its center")
    let top = (height - type.height) / 2
    let left = (width - type.width) / 2
    var mean = NeuralNetworkMeanImage()
    mean.meanImage.reserveCapacity(channels * type.height * type.width)
    for channel in 0..<channels {
      for row in top..<top + type.height {
        let start = (channel * height + row) * width + left
        mean.meanImage += values[start..<start + type.width]
      }
    }
    var preprocessing = NeuralNetworkPreprocessing()
    preprocessing.featureName = feature
    preprocessing.preprocessor = .meanImage(mean)
    return preprocessing
  }
}
