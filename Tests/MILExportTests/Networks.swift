import CoreMLModel
import ModelPrediction
import TensorCore

@testable import MILExport

/// Small networks, and the predictions of their programs.
enum Networks {
  static func array(_ name: String, _ shape: [Int], optional: Bool = false) -> FeatureDescription {
    FeatureDescription(
      name: name, kind: .multiArray(ArrayFeatureType(shape: shape, dataType: .float32)),
      isOptional: optional)
  }

  static func model(
    _ layers: [NeuralNetworkLayer], inputs: [FeatureDescription], outputs: [FeatureDescription],
    isExact: Bool = true
  ) -> Model {
    var network = NeuralNetwork()
    network.layers = layers
    if isExact { network.arrayInputShapeMapping = .exact }
    var description = ModelDescription()
    (description.input, description.output) = (inputs, outputs)
    var model = Model()
    model.specificationVersion = isExact ? 5 : 3
    model.description = description
    model.type = .neuralNetwork(network)
    return model
  }

  /// x · wᵀ for x of shape `[1, inputs]`.
  static func product(_ weights: [Float], outputs: Int) -> Model {
    let inputs = weights.count / outputs
    var layer = InnerProduct()
    (layer.inputChannels, layer.outputChannels) = (inputs, outputs)
    layer.matrix = Weights(weights)
    return model(
      [NeuralNetworkLayer("product", layer, input: ["x"], output: ["y"])],
      inputs: [array("x", [inputs])], outputs: [array("y", [outputs])], isExact: false)
  }

  static func predict(
    _ model: Model, _ shape: [Int], _ values: [Float]
  ) throws -> [Float] {
    let prediction = try Predictor(model: model).predict([
      "x": .array(Tensor(shape: shape, values))
    ])
    return prediction.outputs.first?.value.elements ?? []
  }

  /// The operation types of a program.
  static func operations(_ model: Model) -> [String] {
    guard case .mlProgram(let program)? = model.type else { return [] }
    return program.functions.flatMap { $0.value?.body?.operations ?? [] }.map(\.type)
  }
}
