import CoreMLModel

extension Model {
  /// The blob with a classifier's probabilities.
  package var probabilitiesBlob: String? {
    if case .pipelineClassifier(let pipeline)? = type {
      return pipeline.models.lazy.reversed().compactMap(\.probabilitiesBlob).first
    }
    guard case .neuralNetworkClassifier(let classifier) = type else { return nil }
    return classifier.probabilitiesBlob
  }

  /// The type of the model, or of the first model of a pipeline, that is neither a neural network nor
  /// an ML Program.
  package var firstTypeThatDoesNotRun: String? {
    if neuralNetwork != nil { return nil }
    if case .mlProgram? = type { return nil }
    let models = pipelineModels
    return models.isEmpty ? typeName : models.lazy.compactMap(\.firstTypeThatDoesNotRun).first
  }

  /// What to do with a model of a type that cannot run here.
  package static let remedyForOtherTypes =
    "only neural networks and ML Programs can run; `assay inspect` shows other models"

  /// The name of the model's type in the specification.
  package var typeName: String {
    switch type {
    case .neuralNetwork: "neuralNetwork"
    case .neuralNetworkClassifier: "neuralNetworkClassifier"
    case .neuralNetworkRegressor: "neuralNetworkRegressor"
    case .mlProgram: "mlProgram"
    case .pipeline: "pipeline"
    case .pipelineClassifier: "pipelineClassifier"
    case .pipelineRegressor: "pipelineRegressor"
    case .opaque(let message): message.name ?? "number \(message.field)"
    case nil: "unknown"
    }
  }
}
