import CoreMLModel

extension Model {
  /// The model without its training parameters: no layer or weight is updatable, and there are no
  /// losses, optimizer or training inputs.
  package func withoutTraining() throws -> Model {
    var model = self
    model.isUpdatable = false
    model.description?.trainingInput = []
    if var network = neuralNetwork {
      network.updateParams = nil
      for index in network.layers.indices {
        network.layers[index].isUpdatable = false
        try network.layers[index].editWeights { _, weights in weights.isUpdatable = false }
      }
      model.neuralNetwork = network
    }
    model.pipelineModels = try pipelineModels.map { try $0.withoutTraining() }
    return model
  }
}
