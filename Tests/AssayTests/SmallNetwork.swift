import CoreMLModel

extension Model {
  /// A neural network of these layers.
  static func network(
    _ layers: [NeuralNetworkLayer], inputs: [FeatureDescription], outputs: [FeatureDescription],
    mapping: NeuralNetwork.ArrayInputShapeMapping = .rank5
  ) -> Model {
    var network = NeuralNetwork()
    network.layers = layers
    network.arrayInputShapeMapping = mapping
    var description = ModelDescription()
    (description.input, description.output) = (inputs, outputs)
    var model = Model()
    model.specificationVersion = 4
    model.description = description
    model.type = .neuralNetwork(network)
    return model
  }
}

extension FeatureDescription {
  /// A single-precision array.
  static func array(_ name: String, _ shape: [Int]) -> FeatureDescription {
    FeatureDescription(
      name: name, kind: .multiArray(ArrayFeatureType(shape: shape, dataType: .float32)))
  }
}
