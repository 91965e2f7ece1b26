/// The parameters of a model type that is neither a network nor a pipeline. Its inputs and outputs
/// are numbers, strings, dictionaries and arrays.
package protocol FeatureModelParameters: SpecificationMessage {
  /// The name of the type in the specification. By default, the name of the Swift type in lower
  /// camel case.
  static var typeName: String { get }
  /// The lowest specification version with this type.
  static var specificationVersion: Int { get }
  /// Whether inputs may be optional.
  static var allowsOptionalInputs: Bool { get }
  /// The labels of a classifier, in the order of its probabilities; nil for other models.
  var classLabels: ClassLabels? { get }
  /// Records problems with the parameters and the interface.
  func check(_ description: ModelDescription, _ faults: inout ValidationIssues)
  /// The parameters with renamed features.
  func renamingFeatures(_ rename: (String) -> String) -> Self
}

extension FeatureModelParameters {
  package static var typeName: String {
    let name = "\(Self.self)"
    return name.prefix(1).lowercased() + name.dropFirst()
  }

  package static var specificationVersion: Int { 1 }
  package static var allowsOptionalInputs: Bool { false }
  package var classLabels: ClassLabels? { nil }
  package func renamingFeatures(_ rename: (String) -> String) -> Self { self }
  package var typeName: String { Self.typeName }

  func checkModel(_ description: ModelDescription, _ faults: inout ValidationIssues) {
    for input in description.input where input.type?.isOptional == true {
      faults.require(
        Self.allowsOptionalInputs, "description.input.\(input.name)",
        "an input of a model of type \(typeName) cannot be optional")
    }
    check(description, &faults)
  }

  fileprivate func isEqual(to other: any FeatureModelParameters) -> Bool {
    (other as? Self) == self
  }

  static var choice: Choice<ModelType> {
    .message(
      typeName, { (parameters: Self) in .features(FeatureModel(parameters)) },
      { if case .features(let model) = $0 { model.parameters as? Self } else { nil } })
  }
}

/// A model of one of `featureModelTypes`.
package struct FeatureModel: Sendable, Equatable {
  package var parameters: any FeatureModelParameters

  package init(_ parameters: any FeatureModelParameters) { self.parameters = parameters }

  package static func == (a: FeatureModel, b: FeatureModel) -> Bool {
    a.parameters.isEqual(to: b.parameters)
  }
}

/// Every model type that is read besides networks and pipelines, in the specification's order.
package let featureModelTypes: [any FeatureModelParameters.Type] = [
  GLMRegressor.self, SupportVectorRegressor.self, TreeEnsembleRegressor.self, GLMClassifier.self,
  SupportVectorClassifier.self, TreeEnsembleClassifier.self, KNearestNeighborsClassifier.self,
  OneHotEncoder.self, Imputer.self, FeatureVectorizer.self, DictVectorizer.self, Scaler.self,
  CategoricalMapping.self, Normalizer.self, ArrayFeatureExtractor.self,
  NonMaximumSuppressionModel.self, Identity.self,
]
