import CoreMLModel

/// y = W x + b with W of 3 × 4 and b of 3 elements, which are 0 unless stated.
func denseModel(
  _ matrix: [Float] = [], bias: [Float] = [],
  input: ArrayFeatureType.DataType = .float32, output: ArrayFeatureType.DataType = .float32,
  declared: [Int] = [3]
) -> Model {
  var layer = InnerProduct()
  layer.inputChannels = 4
  layer.outputChannels = 3
  layer.hasBias = true
  layer.matrix = Weights(matrix + [Float](repeating: 0, count: 12 - matrix.count))
  layer.bias = Weights(bias + [Float](repeating: 0, count: 3 - bias.count))
  var network = NeuralNetwork()
  network.layers = [NeuralNetworkLayer("d", layer, input: ["x"], output: ["y"])]
  var model = Model()
  model.specificationVersion = 4
  model.type = .neuralNetwork(network)
  model.description?.input = [
    FeatureDescription(
      name: "x", kind: .multiArray(ArrayFeatureType(shape: [4], dataType: input)))
  ]
  model.description?.output = [
    FeatureDescription(
      name: "y", kind: .multiArray(ArrayFeatureType(shape: declared, dataType: output)))
  ]
  return model
}
