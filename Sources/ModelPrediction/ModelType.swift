import CoreMLModel

extension Model {
  /// The blob with a classifier's probabilities.
  package var probabilitiesBlob: String? {
    if case .pipelineClassifier(let pipeline)? = type {
      return pipeline.models.reversed().firstValue(\.probabilitiesBlob)
    }
    guard case .neuralNetworkClassifier(let classifier) = type else { return nil }
    return classifier.probabilitiesBlob
  }

  /// The type of the model, or of the first model of a pipeline, that is not a neural network.
  package var firstTypeThatDoesNotRun: String? {
    if neuralNetwork != nil { return nil }
    let models = pipelineModels
    return models.isEmpty ? typeName : models.firstValue(\.firstTypeThatDoesNotRun)
  }

  /// What to do with a model of the type `name`, which cannot run here.
  package static func remedy(forType name: String) -> String {
    name == "mlProgram"
      ? "have coremltools write a neural network, which can run, with "
        + "convert(…, convert_to=\"neuralnetwork\")"
      : "only neural networks can run; `assay inspect` shows other models"
  }

  /// The name of the model's type in the specification.
  package var typeName: String {
    switch type {
    case .neuralNetwork: "neuralNetwork"
    case .neuralNetworkClassifier: "neuralNetworkClassifier"
    case .neuralNetworkRegressor: "neuralNetworkRegressor"
    case .pipeline: "pipeline"
    case .pipelineClassifier: "pipelineClassifier"
    case .pipelineRegressor: "pipelineRegressor"
    case .opaque(let message): message.name ?? "number \(message.field)"
    case nil: "unknown"
    }
  }
}
