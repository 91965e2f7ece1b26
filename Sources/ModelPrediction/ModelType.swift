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

  /// The type of the model, or of a pipeline's first model, that cannot run; nil if all can.
  package var firstTypeThatDoesNotRun: String? {
    if neuralNetwork != nil || hasFeatureModelType { return nil }
    if case .mlProgram? = type { return nil }
    let models = pipelineModels
    return models.isEmpty ? typeName : models.firstValue(\.firstTypeThatDoesNotRun)
  }

  private var hasFeatureModelType: Bool { if case .features? = type { true } else { false } }

  /// What to do with a model of type `name`, which cannot run here.
  package static func remedy(forType name: String) -> String {
    applesModels.contains(name)
      ? "it is built into Apple's systems, and the file only refers to it"
      : "`assay inspect` shows what it takes and gives"
  }

  /// Types that only Apple's systems can compute.
  private static let applesModels: Set<String> = [
    "visionFeaturePrint", "audioFeaturePrint", "soundAnalysisPreprocessing", "textClassifier",
    "wordTagger", "gazetteer", "wordEmbedding",
  ]

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
    case .features(let model): model.parameters.typeName
    case .opaque(let message): message.name ?? "number \(message.field)"
    case nil: "unknown"
    }
  }
}
