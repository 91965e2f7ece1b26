import CoreMLModel
import TensorCore

extension ProgramBuilder {
  /// channelScale · x + the bias of the color channel, or x − mean.
  func preprocess(
    _ image: Variable, _ step: NeuralNetworkPreprocessing, _ colors: ImageFeatureType.ColorSpace
  ) throws -> Variable {
    func combine(_ operation: String, _ x: Variable, _ y: Variable) throws -> Variable {
      try add(
        operation, image.name, [("x", .variable(x)), ("y", .variable(y))], type: .float32,
        shape: x.shape)
    }
    func constant(_ values: [Float], _ shape: [Int], _ name: String) throws -> Variable {
      try self.constant(FloatValues(values), shape, .float32, name: "\(image.name)_\(name)")
    }
    switch step.preprocessor {
    case .scaler(let scaler):
      let biases = scaler.biases(colors)
      var result = image
      if scaler.channelScale != 1 {
        result = try combine("mul", result, constant([scaler.channelScale], [], "scale"))
      }
      if biases.contains(where: { $0 != 0 }) {
        result = try combine("add", result, constant(biases, [1, biases.count, 1, 1], "bias"))
      }
      return result
    case .meanImage(let mean):
      return try combine("sub", image, constant(mean.meanImage, image.shape, "mean"))
    case nil: return image
    }
  }
}
