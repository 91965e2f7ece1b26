import CoreMLModel
import TensorCore

/// A feature in the description of a model, with that model's network.
struct FeaturePath {
  var feature: FeatureDescription
  /// Nil in the description of a pipeline.
  var network: NeuralNetwork?
  let isInput: Bool
}

extension Model {
  /// Calls `body` for every occurrence of the feature `name`: in the description of this model, and
  /// in those of a pipeline's models.
  ///
  /// - Throws: `.mismatch` if there is no such feature.
  func editingFeature(_ name: String, _ body: (inout FeaturePath) throws -> Void) throws -> Model {
    try require(
      featureNames.contains(name), .mismatch, "the model has no feature '\(name)'",
      hint: "its features are " + featureNames.map { "'\($0)'" }.joined(separator: ", "))
    return try visiting(name, body)
  }

  private func visiting(
    _ name: String, _ body: (inout FeaturePath) throws -> Void
  ) throws -> Model {
    var model = self
    for (path, isInput) in [
      (\ModelDescription.input, true), (\ModelDescription.output, false),
    ] {
      guard var description = model.description else { continue }
      for index in description[keyPath: path].indices
      where description[keyPath: path][index].name == name {
        var position = FeaturePath(
          feature: description[keyPath: path][index], network: model.neuralNetwork,
          isInput: isInput)
        do { try body(&position) } catch let error as ModelError { throw error.inside(name) }
        description[keyPath: path][index] = position.feature
        // A training input of the same name is the same input.
        for other in description.trainingInput.indices
        where isInput && description.trainingInput[other].name == name {
          description.trainingInput[other].type = position.feature.type
        }
        model.neuralNetwork = position.network
      }
      model.description = description
    }
    model.pipelineModels = try pipelineModels.map { try $0.visiting(name, body) }
    return model
  }
}

extension FeatureDescription {
  /// Changes the kind of the feature; its description, and whether it is optional, are unchanged.
  mutating func setKind(_ kind: FeatureType.Kind) {
    var type = self.type ?? FeatureType()
    type.kind = kind
    self.type = type
  }

  /// The array type; throws for any other kind of feature.
  func arrayType() throws -> ArrayFeatureType {
    if case .multiArray(let array)? = type?.kind { return array }
    throw ModelError(.mismatch, "is not an array")
  }
}
