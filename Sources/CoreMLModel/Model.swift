/// A Core ML model: the document that importers write, the engine reads and every tool edits.
public struct Model: SpecificationMessage {
  public var specificationVersion = 0
  public var description: ModelDescription? = ModelDescription()
  public var isUpdatable = false
  public var type: ModelType?
  public var unknownFields = UnknownFields()

  public init() {}
}

/// What kind of model it is.
public indirect enum ModelType: Sendable, Equatable {
  case neuralNetwork(NeuralNetwork)
  case neuralNetworkClassifier(NeuralNetworkClassifier)
  case neuralNetworkRegressor(NeuralNetworkRegressor)
  case pipeline(Pipeline)
  case pipelineClassifier(Pipeline)
  case pipelineRegressor(Pipeline)
  /// Any other type of the format: its field's number in `Model` and its message, untouched.
  case opaque(OpaqueMessage)
}

/// Models that run one after the other.
public struct Pipeline: SpecificationMessage {
  public var models: [Model] = []
  public var names: [String] = []
  public var unknownFields = UnknownFields()

  public init() {}
}
