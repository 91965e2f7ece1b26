import CoreMLModel

extension Model {
  /// Removes the scaling of images from a network, and records it in the metadata: the scale, and
  /// the bias of each channel in the order of the image's colors. A mean image stays, since it
  /// cannot be written as text.
  package mutating func recordPreprocessing() {
    guard var network = neuralNetwork, let inputs = description?.input else { return }
    for feature in inputs {
      guard case .image(let image)? = feature.type?.kind else { continue }
      for step in network.preprocessing {
        guard step.featureName == feature.name || step.featureName.isEmpty,
          case .scaler(let scaler)? = step.preprocessor
        else { continue }
        let numbers = [scaler.channelScale] + scaler.biases(image.colorSpace)
        if description?.metadata == nil { description?.metadata = Metadata() }
        description?.metadata?.userDefined["assay.preprocessing." + feature.name] =
          numbers.map { "\($0)" }.joined(separator: ",")
      }
    }
    network.preprocessing.removeAll { step in
      if case .scaler? = step.preprocessor { true } else { false }
    }
    neuralNetwork = network
  }
}
