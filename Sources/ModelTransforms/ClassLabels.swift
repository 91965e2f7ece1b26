import CoreMLModel
import TensorCore

extension Model {
  /// The model as a classifier with these labels. An existing classifier gets new labels. A network
  /// becomes a classifier: its array output `probabilities`, by default the first output, becomes a
  /// dictionary, and the best label becomes another output, `label`.
  ///
  /// - Throws: `.mismatch` if the number of labels differs from the old one or from the number of
  ///   probabilities; `.unsupported` for models without a network.
  package func settingClassLabels(
    _ labels: NeuralNetworkClassifier.ClassLabels, label: String = "classLabel",
    probabilities: String? = nil
  ) throws -> Model {
    if case .pipelineClassifier(var pipeline)? = type {
      guard
        let last = pipeline.models.lastIndex(where: {
          if case .neuralNetworkClassifier? = $0.type { true } else { false }
        })
      else { throw Self.noNetwork }
      pipeline.models[last] = try pipeline.models[last].settingClassLabels(labels)
      var model = self
      model.type = .pipelineClassifier(pipeline)
      model.description?.setLabelType(labels)
      return model
    }
    if case .neuralNetworkClassifier(var classifier)? = type {
      if let old = classifier.classLabels, old.count != labels.count {
        throw ModelError(
          .mismatch, "\(labels.count) class labels, but the model has \(old.count)",
          hint: "give one label per line, in the order of the output's elements")
      }
      classifier.classLabels = labels
      var model = self
      model.type = .neuralNetworkClassifier(classifier)
      model.description?.setLabelType(labels)
      return model
    }
    guard case .neuralNetwork(let network)? = type else { throw Self.noNetwork }
    return try classifier(network, labels, label: label, probabilities: probabilities)
  }

  private static var noNetwork: ModelError {
    ModelError(.unsupported, "only neural networks can have class labels")
  }

  private func classifier(
    _ network: NeuralNetwork, _ labels: NeuralNetworkClassifier.ClassLabels, label: String,
    probabilities: String?
  ) throws -> Model {
    var model = self
    var description = model.description ?? ModelDescription()
    let names = description.output.map(\.name)
    guard let name = probabilities ?? names.first,
      let index = description.output.firstIndex(where: { $0.name == name })
    else {
      throw ModelError.unknown("output", probabilities ?? "", among: names)
    }
    try require(
      !label.isEmpty && !featureNames.contains(label), .mismatch,
      "'\(label)' is already the name of another feature")
    let array = try description.output[index].arrayType()
    let count = try checkedProduct(array.shape)
    try require(
      array.shape.isEmpty || count == labels.count, .mismatch,
      "\(labels.count) class labels for the \(count) values of output '\(name)'")
    description.output.append(
      FeatureDescription().with(\.name, label).with(\.type, FeatureType()))
    description.predictedFeatureName = label
    description.predictedProbabilitiesName = name
    description.setLabelType(labels)
    model.description = description
    model.type = .neuralNetworkClassifier(
      NeuralNetworkClassifier(network, labels, probabilities: name))
    return model
  }
}

extension ModelDescription {
  /// Sets the type of the labels for the probabilities and for the label, as an output and as a
  /// training input.
  fileprivate mutating func setLabelType(_ labels: NeuralNetworkClassifier.ClassLabels) {
    let isString = if case .string = labels { true } else { false }
    for index in output.indices {
      if output[index].name == predictedFeatureName {
        output[index].setKind(isString ? .string : .int64)
      } else if output[index].name == predictedProbabilitiesName {
        output[index].setKind(.dictionary(isString ? .string : .int64))
      }
    }
    for index in trainingInput.indices where trainingInput[index].name == predictedFeatureName {
      trainingInput[index].setKind(isString ? .string : .int64)
    }
  }
}
