import CoreMLModel
import ImportSupport
import TensorCore

/// A convolution with a kernel that is standardized per output: (kernel − mean) · gain · gamma /
/// √max(variance · n, epsilon), where n is the number of weights per output.
enum StandardizedConvolution: KerasLayer {
  static let classes = [SourceLayer](
    "ScaledStandardizedConv2D", becomes: "convolution",
    options: "`gamma`, `eps`, and those of Conv2D; from keras-cv-attention-models")

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let layer = try Conv.configured(configuration)
    let epsilon = try configuration.double("eps", default: 1e-5)
    let gamma = try configuration.double("gamma", default: 1)
    return conversion(layer.weights + [WeightSlot("gain")]) { call, network in
      guard call.missingWeights == nil else { return try layer.convert(call, &network) }
      let position = try call.weights.firstIndex(where: { $0.name == "kernel" }).orThrow(
        call.error("weight 'kernel' is missing from the file"))
      let kernel = try call.weights[position].values()
      guard kernel.shape.count == 4, kernel.count > 0 else {
        throw call.error("its kernel has the shape \(KerasTensor.text(kernel.shape))")
      }
      let outputs = kernel.shape[3]
      let gain = try call.weight("gain", [outputs]).array()
      var values = try kernel.array()
      let inputs = values.count / outputs
      for output in 0..<outputs {
        let indices = stride(from: output, to: values.count, by: outputs)
        var mean = 0.0
        for index in indices { mean += Double(values[index]) / Double(inputs) }
        var squares = 0.0
        for index in indices {
          let distance = Double(values[index]) - mean
          squares += distance * distance
        }
        // The sum of squares is n · variance.
        let scale = gamma * Double(gain[output]) / max(squares, epsilon).squareRoot()
        for index in indices { values[index] = Float((Double(values[index]) - mean) * scale) }
      }
      let standardized = FloatValues(values).shaped(kernel.shape)
      var weights = call.weights
      weights[position].values = { standardized }
      return try layer.convert(
        call.with(name: call.name, inputs: call.inputs, weights: weights), &network)
    }
  }
}
