/// A Core ML model: the document that importers write, the engine reads and all tools edit.
public struct Model: SpecificationMessage {
  /// The version of the specification that a reader must support.
  public var specificationVersion = 0
  /// The interface; nil if the file has none.
  public var description: ModelDescription? = ModelDescription()
  /// Whether the model can be trained on a device.
  public var isUpdatable = false
  package var type: ModelType?
  package var unknownFields = UnknownFields()

  /// Creates a model without a type.
  public init() {}

  package static let fields: Fields = [
    .int("specificationVersion", \.specificationVersion),
    .message("description", \.description),
    .bool("isUpdatable", \.isUpdatable),
    .choice(
      \.type,
      [
        .message(
          "neuralNetwork", { .neuralNetwork($0) },
          { if case .neuralNetwork(let value) = $0 { value } else { nil } }),
        .message(
          "neuralNetworkClassifier", { .neuralNetworkClassifier($0) },
          { if case .neuralNetworkClassifier(let value) = $0 { value } else { nil } }),
        .message(
          "neuralNetworkRegressor", { .neuralNetworkRegressor($0) },
          { if case .neuralNetworkRegressor(let value) = $0 { value } else { nil } }),
        .message(
          "mlProgram", { .mlProgram($0) },
          { if case .mlProgram(let value) = $0 { value } else { nil } }),
        .message(
          "pipeline", { .pipeline($0) },
          { if case .pipeline(let value) = $0 { value } else { nil } }),
        .flat(
          "pipelineClassifier", type: WrappedPipeline.self,
          read: { .pipelineClassifier(try $0.message("pipeline") ?? Pipeline()) },
          { if case .pipelineClassifier(let pipeline) = $0 { pipeline } else { nil } },
          write: { try $1.set("pipeline", $0) }),
        .flat(
          "pipelineRegressor", type: WrappedPipeline.self,
          read: { .pipelineRegressor(try $0.message("pipeline") ?? Pipeline()) },
          { if case .pipelineRegressor(let pipeline) = $0 { pipeline } else { nil } },
          write: { try $1.set("pipeline", $0) }),
      ] + featureModelTypes.map { $0.choice },
      opaque: ({ .opaque($0) }, { if case .opaque(let message) = $0 { message } else { nil } })),
  ]
}

/// The kind of model.
package indirect enum ModelType: Sendable, Equatable {
  case neuralNetwork(NeuralNetwork)
  case neuralNetworkClassifier(NeuralNetworkClassifier)
  case neuralNetworkRegressor(NeuralNetworkRegressor)
  case mlProgram(MILProgram)
  case pipeline(Pipeline)
  case pipelineClassifier(Pipeline)
  case pipelineRegressor(Pipeline)
  /// A feature model, whose inputs and outputs are numbers, strings, dictionaries and arrays.
  case features(FeatureModel)
  /// Any other type in the format: its field number in `Model` and its message, untouched.
  case opaque(OpaqueMessage)
}

/// Models that run one after the other.
package struct Pipeline: SpecificationMessage {
  package var models: [Model] = []
  package var names: [String] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.messages("models", \.models), .strings("names", \.names)]
}

/// The messages `PipelineClassifier` and `PipelineRegressor`.
private struct WrappedPipeline: SpecificationMessage {
  var pipeline: Pipeline?
  var unknownFields = UnknownFields()

  static let fields: Fields = [.message("pipeline", \.pipeline)]
}
