extension ModelType {
  /// The pipeline, whichever kind it is; nil for other models.
  package var pipeline: Pipeline? {
    get {
      switch self {
      case .pipeline(let pipeline), .pipelineClassifier(let pipeline),
        .pipelineRegressor(let pipeline):
        pipeline
      default: nil
      }
    }
    set {
      guard let newValue else { return }
      switch self {
      case .pipelineClassifier: self = .pipelineClassifier(newValue)
      case .pipelineRegressor: self = .pipelineRegressor(newValue)
      default: self = .pipeline(newValue)
      }
    }
  }
}

extension Model {
  /// The models of a pipeline, in order; empty for other models, which cannot get any.
  package var pipelineModels: [Model] {
    get { type?.pipeline?.models ?? [] }
    set { type?.pipeline?.models = newValue }
  }

  /// Every neural network in the model, with the prefix for the names in a pipeline: empty,
  /// `MODEL/`, or `MODEL/MODEL/`.
  package var networks: [(prefix: String, model: Model)] {
    if neuralNetwork != nil { return [("", self)] }
    return pipelineModels.indices.flatMap { index in
      pipelineModels[index].networks.map { (pipelineName(index) + "/" + $0.prefix, $0.model) }
    }
  }

  /// The name of a model in a pipeline: the recorded name, or the index.
  package func pipelineName(_ index: Int) -> String {
    let names = type?.pipeline?.names ?? []
    return index < names.count && !names[index].isEmpty ? names[index] : "\(index + 1)"
  }
}
