import CoreMLModel
import Imaging
import TensorCore

extension Model {
  /// Whether it is a feature model, or a pipeline with one: values are passed in the user's form,
  /// not as blobs.
  package var usesFeatures: Bool {
    if case .features? = type { return true }
    return pipelineModels.contains(where: \.usesFeatures)
  }
}

extension Model {
  /// The threshold inputs of the model, or of a pipeline's models.
  var thresholdInputs: Set<String> {
    guard case .features(let model)? = type else {
      return Set(pipelineModels.flatMap(\.thresholdInputs))
    }
    return model.parameters.thresholdInputs
  }
}

extension Predictor {
  /// Runs the models of a pipeline one after the other. Each takes its inputs by name from the
  /// pipeline's inputs and from the outputs of earlier models.
  func passOnFeatures(_ values: [String: FeatureValue]) throws -> [String: FeatureValue] {
    var available = values
    for (index, member) in members.enumerated() {
      do {
        var inputs: [String: FeatureValue] = [:]
        let thresholds = member.model.thresholdInputs
        for input in member.inputs where !thresholds.contains(input.name) {
          if let value = available[input.name] {
            inputs[input.name] = value
          } else if input.type?.isOptional != true {
            throw ModelError(.malformed, "no earlier model produces its input '\(input.name)'")
          }
        }
        for name in thresholds { inputs[name] = available[name] }
        available.merge(try member.features(inputs)) { $1 }
      } catch let error as ModelError {
        throw error.inside("model \(model.pipelineName(index)) of the pipeline")
      }
    }
    return available
  }
}

extension Prediction {
  /// The outputs in the model's order, for the values by name.
  init(_ values: [String: FeatureValue], of description: ModelDescription, _ model: Model) {
    let labels = model.classLabels?.keys
    for feature in description.output {
      guard let value = values[feature.name] else { continue }
      outputs.append(Self.output(feature.name, value, labels: labels))
    }
  }

  private static func output(
    _ name: String, _ value: FeatureValue, labels: [FeatureKey]?
  ) -> PredictedOutput {
    switch value {
    case .dictionary(let entries):
      if let labels, Set(labels) == Set(entries.keys), labels.count == entries.count {
        let numbers = labels.map { Float(entries[$0] ?? 0) }
        return PredictedOutput(
          name: name, kind: .classes, value: Tensor(shape: [numbers.count], numbers))
      }
      let numbers = entries.sorted { $0.key < $1.key }.map { Float($0.value) }
      return PredictedOutput(
        name: name, kind: .feature(value), value: Tensor(shape: [numbers.count], numbers))
    case .array(let tensor): return PredictedOutput(name: name, kind: .array, value: tensor)
    case .image(let image):
      let shape = [image.height, image.width, image.channelCount]
      let samples = image.samples.array(of: UInt8.self).map { Float($0) }
      return PredictedOutput(
        name: name, kind: .image, value: Tensor(shape: shape, samples), channels: .last)
    case .numbers(let array):
      return PredictedOutput(
        name: name, kind: .feature(value),
        value: Tensor(shape: array.shape, array.elements.map { Float($0) }))
    case .int, .double:
      return PredictedOutput(
        name: name, kind: .feature(value), value: Tensor(shape: [], [Float(value.number ?? .nan)]))
    case .string:
      return PredictedOutput(name: name, kind: .feature(value), value: Tensor(shape: [0]))
    }
  }

  /// The outputs of a network as features: a classifier's are its label and its probabilities.
  package func features(_ model: Model) -> [String: FeatureValue] {
    var features: [String: FeatureValue] = [:]
    for output in outputs {
      switch output.kind {
      case .feature(let value): features[output.name] = value
      case .image:
        // Images between models have eight bits per color, unless they are declared as floats.
        let feature = model.description?.output.first { $0.name == output.name }
        if case .image(let image)? = feature?.type?.kind, image.colorSpace == .grayscaleFloat16 {
          features[output.name] = .array(output.value)
        } else {
          features[output.name] = .array(output.value.rounded)
        }
      case .classes:
        let labels = model.classLabels?.keys ?? []
        let numbers = output.value.elements
        guard labels.count == numbers.count else { continue }
        features[output.name] = .dictionary(
          Dictionary(zip(labels, numbers.map(Double.init)), uniquingKeysWith: { $0 + $1 }))
        let best = numbers.indices.max { numbers[$0] < numbers[$1] }
        if let best, let name = model.description?.predictedFeatureName {
          features[name] = labels[best].value
        }
      case .array, .blob: features[output.name] = .array(output.value)
      }
    }
    return features
  }
}

extension Tensor {
  /// Rounds to integers from 0 to 255.
  fileprivate var rounded: Tensor {
    var result = self
    result.withUnsafeMutableElements { elements in
      for index in elements.indices { elements[index] = Float(UInt8(rounding: elements[index])) }
    }
    return result
  }
}
