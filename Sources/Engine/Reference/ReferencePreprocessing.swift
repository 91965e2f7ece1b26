import CoreMLModel
import TensorCore

extension NeuralNetworkPreprocessing {
  /// The image that the first layer reads, with channels in the order of its color space:
  /// channelScale · x + the bias of the channel's color, or x − mean.
  func referenceOutput(
    _ image: ReferenceTensor, _ colorSpace: ImageFeatureType.ColorSpace
  ) throws -> ReferenceTensor {
    switch preprocessor {
    case nil: return image
    case .scaler(let scaler):
      let biases: [Float] =
        switch colorSpace {
        case .rgb: [scaler.redBias, scaler.greenBias, scaler.blueBias]
        case .bgr: [scaler.blueBias, scaler.greenBias, scaler.redBias]
        default: [scaler.grayBias]
        }
      try require(
        biases.count == image.channels, .mismatch,
        "an image of \(image.channels) channels is not \(colorSpace)", field: featureName)
      return ReferenceTensor(shape: image.shape) { p in
        Double(scaler.channelScale) * image[p] + Double(biases[p.channel])
      }
    case .meanImage(let mean):
      let size = image.channels * image.height * image.width
      try require(
        mean.meanImage.count == size,
        "the mean image has \(mean.meanImage.count) values, the image \(size)", field: featureName)
      return ReferenceTensor(shape: image.shape) { p in
        let index = (p.channel * image.height + p.y) * image.width + p.x
        return image[p] - Double(mean.meanImage[index])
      }
    }
  }
}
