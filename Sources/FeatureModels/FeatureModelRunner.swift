/// A model of features, ready to run.
package struct FeatureModelRunner: Sendable {
  private let description: ModelDescription
  private let model: any FeatureModelComputation
  private let thresholds: Set<String>

  /// - Throws: `ModelError` if the parameters cannot be computed.
  package init(_ parameters: any FeatureModelParameters, _ description: ModelDescription) throws {
    self.description = description
    thresholds = parameters.thresholdInputs
    let type = try (parameters as? any RunnableFeatureModel).orThrow(
      ModelError(.unsupported, "models of type \(parameters.typeName) cannot run"))
    model = try type.computation(description)
  }

  /// The outputs for the inputs, each by name and of its declared type.
  package func run(_ values: [String: FeatureValue]) throws -> [String: FeatureValue] {
    var inputs = FeatureInputs(description: description)
    // The thresholds of a suppression need no declaration.
    inputs.values = values.filter { value in
      !description.input.contains { $0.name == value.key }
    }
    for feature in description.input {
      guard let value = values[feature.name] else {
        try require(
          feature.type?.isOptional == true || thresholds.contains(feature.name), .mismatch,
          "no value for input \(feature.name)")
        continue
      }
      try feature.type?.requireNumbers(value, feature: feature.name)
      inputs.values[feature.name] = try value.converted(to: feature.type, feature: feature.name)
    }
    let results = try model.run(inputs)
    return try Dictionary(
      uniqueKeysWithValues: description.output.compactMap { feature in
        guard let value = results[feature.name] else { return nil }
        return (feature.name, try value.converted(to: feature.type, feature: feature.name))
      })
  }
}

extension FeatureModelParameters {
  /// The inputs with which a pipeline overrides the thresholds of a suppression. The suppression
  /// does not declare them, or not as optional: it has its own thresholds.
  package var thresholdInputs: Set<String> {
    guard let suppression = self as? NonMaximumSuppressionModel else { return [] }
    return [suppression.overlapInput, suppression.confidenceThresholdInput]
  }
}

/// A type of model that runs by plain arithmetic in double precision.
protocol RunnableFeatureModel: FeatureModelParameters {
  /// The computation, prepared once before any prediction.
  func computation(_ description: ModelDescription) throws -> any FeatureModelComputation
}

protocol FeatureModelComputation: Sendable {
  /// Values for the outputs, by name.
  func run(_ inputs: FeatureInputs) throws -> [String: FeatureValue]
}

/// Models that need no preparation.
protocol DirectFeatureModel: RunnableFeatureModel, FeatureModelComputation {}

extension DirectFeatureModel {
  func computation(_ description: ModelDescription) -> any FeatureModelComputation { self }
}

/// The values of a prediction, of the declared types.
struct FeatureInputs {
  /// The most numbers that a model may request beyond those in the inputs and the file.
  static let elementLimit = 1 << 24

  let description: ModelDescription
  var values: [String: FeatureValue] = [:]

  /// The value of the only input; nil if it is optional and missing.
  var only: FeatureValue? { description.input.first.flatMap { values[$0.name] } }

  /// The name of the only output.
  var output: String { description.output.first?.name ?? "" }

  func required() throws -> FeatureValue {
    guard let only else {
      throw ModelError(.mismatch, "no value for input \(description.input.first?.name ?? "")")
    }
    return only
  }

  /// All inputs' numbers, one after the other; those of a missing optional input are NaN.
  func vector() throws -> [Double] {
    var vector: [Double] = []
    for feature in description.input {
      guard let value = values[feature.name] else {
        let count: Int =
          if case .multiArray(let array)? = feature.type?.kind {
            try checkedProduct(array.shape, limit: Self.elementLimit)
          } else { 1 }
        vector += [Double](repeating: .nan, count: count)
        continue
      }
      let array = try value.numberArray.orThrow(
        ModelError(
          .unsupported, "a dictionary of sparse numbers is not supported", field: feature.name))
      vector += array.elements
    }
    return vector
  }

  /// All inputs' numbers; throws unless there are `count`.
  func vector(count: Int) throws -> [Double] {
    let vector = try vector()
    try require(
      vector.count == count, .mismatch,
      "the model takes \(count) numbers, and the inputs have \(vector.count)")
    return vector
  }

  /// The outputs of a regressor.
  func regression(_ values: [Double]) -> [String: FeatureValue] {
    [
      description.predictedFeatureName: values.count == 1
        ? .double(values[0]) : .numbers(NumberArray(values))
    ]
  }

  /// The outputs of a classifier: the label with the highest probability, the first among equals,
  /// and all probabilities.
  ///
  /// - Parameter best: the index of the label to return instead.
  func classification(
    _ probabilities: [Double], of labels: [FeatureKey], best: Int? = nil
  ) -> [String: FeatureValue] {
    var winner = 0
    for index in probabilities.indices where probabilities[index] > probabilities[winner] {
      winner = index
    }
    winner = best ?? winner
    var results: [String: FeatureValue] = [:]
    if labels.indices.contains(winner) {
      results[description.predictedFeatureName] = labels[winner].value
    }
    if !description.predictedProbabilitiesName.isEmpty {
      results[description.predictedProbabilitiesName] = .dictionary(
        Dictionary(zip(labels, probabilities), uniquingKeysWith: { $0 + $1 }))
    }
    return results
  }
}
