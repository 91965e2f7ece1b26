import CoreMLModel
import TensorCore

extension Model {
  /// The part of the network that computes the blobs `outputs` from the blobs `inputs`. Both become
  /// features; other inputs of the model that the part needs are kept.
  ///
  /// A classifier stays one if the outputs include its probabilities.
  ///
  /// - Parameter shapes: the shapes of the blobs that become features.
  /// - Throws: `.mismatch` if there is no such blob, or a blob of unknown shape would become an
  ///   input; `.unsupported` for models without a network and for those with training parameters.
  package func cut(
    from inputs: [String], to outputs: [String], shapes: [String: [Int]],
    dataType: ArrayFeatureType.DataType
  ) throws -> Model {
    guard var network = neuralNetwork, var description else { throw Self.noNetwork("can be cut") }
    guard !isUpdatable, network.updateParams == nil else { throw Self.updatableCut }
    let isClassifier = outputs.contains {
      $0 == description.predictedProbabilitiesName || $0 == description.predictedFeatureName
    }
    let wanted = try targets(outputs, network, description)
    let features = Set(description.input.map(\.name))
    for name in inputs where !features.contains(name) { try network.requireBlob(name) }
    let kept = try network.layers(computing: Set(wanted), from: Set(inputs))
    for name in inputs where !kept.read.contains(name) {
      throw ModelError(.mismatch, "'\(name)' is not connected to the part")
    }
    network.layers = kept.layers
    var remaining = description.input.filter { kept.read.contains($0.name) }
    let dropped = features.subtracting(remaining.map(\.name))
    for name in inputs where !features.contains(name) {
      let shape = try shapes[name].orThrow(
        ModelError(.mismatch, "the shape of the blob '\(name)' is unknown"))
      remaining.append(network.arrayFeature(name, shape: shape, dataType: dataType))
    }
    try require(
      !remaining.isEmpty && !network.layers.isEmpty, .mismatch,
      "there are no layers between the blobs")
    network.keepPreprocessing(of: remaining, before: description.input)
    let old = description.output
    description.output = outputs.flatMap { name -> [FeatureDescription] in
      if let feature = old.first(where: { $0.name == name }) { return [feature] }
      return [network.arrayFeature(name, shape: shapes[name], dataType: dataType)]
    }
    description.input = remaining
    let lost = dropped.union(old.map(\.name)).subtracting(description.output.map(\.name))
      .subtracting(remaining.map(\.name))
    for name in lost { description.metadata?.forgetFeature(name) }
    var model = self
    if isClassifier, case .neuralNetworkClassifier(var classifier)? = type {
      classifier.network = network
      classifier.labelProbabilityLayerName = wanted[0]
      model.type = .neuralNetworkClassifier(classifier)
      let pair = [description.predictedProbabilitiesName, description.predictedFeatureName]
      for feature in old where pair.contains(feature.name) && !outputs.contains(feature.name) {
        description.output.append(feature)
      }
    } else {
      description.predictedFeatureName = ""
      description.predictedProbabilitiesName = ""
      model.type = .neuralNetwork(network)
    }
    model.description = description
    return model
  }

  /// The blobs of the outputs, a classifier's probabilities first.
  private func targets(
    _ outputs: [String], _ network: NeuralNetwork, _ description: ModelDescription
  ) throws -> [String] {
    var blobs: [String] = []
    for name in outputs {
      if case .neuralNetworkClassifier(let classifier)? = type,
        name == description.predictedProbabilitiesName || name == description.predictedFeatureName
      {
        let blob = classifier.probabilitiesBlob ?? ""
        if !blobs.contains(blob) { blobs.insert(blob, at: 0) }
        continue
      }
      try network.requireBlob(name)
      blobs.append(name)
    }
    return blobs
  }
}

extension NeuralNetwork {
  func requireBlob(_ name: String) throws {
    try require(
      layers.contains(where: { $0.output.contains(name) }), .mismatch,
      "the network has no blob '\(name)'", hint: "list its layers with `assay inspect`"
    )
  }

  /// The layers that lead from the blobs `inputs`, and from the network's inputs, to `outputs`, and
  /// every blob that these layers read from outside.
  fileprivate func layers(
    computing outputs: Set<String>, from inputs: Set<String>
  ) throws -> (layers: [NeuralNetworkLayer], read: Set<String>) {
    var needed = outputs
    var kept: [NeuralNetworkLayer] = []
    for layer in layers.reversed() {
      let inner = layer.innerBlobNames
      // Nested networks write blobs of the enclosing network.
      guard !needed.isDisjoint(with: layer.output) || !needed.isDisjoint(with: inner) else {
        continue
      }
      try require(
        inputs.isDisjoint(with: layer.output), .unsupported,
        "computes both an input of the part and a blob that the part needs", layer: layer.name)
      kept.append(layer)
      needed.subtract(layer.output)
      needed.formUnion(Set(layer.input).union(inner).subtracting(inputs))
    }
    kept.reverse()
    let produced = Set(kept.flatMap(\.output))
    let read = Set(kept.flatMap(\.input)).union(kept.flatMap(\.innerBlobNames))
    return (kept, read.subtracting(produced))
  }

  /// Keeps the preprocessing of images that are still inputs; each step gets its image's name.
  fileprivate mutating func keepPreprocessing(
    of inputs: [FeatureDescription], before old: [FeatureDescription]
  ) {
    let firstImage = old.first { if case .image? = $0.type?.kind { true } else { false } }?.name
    let names = Set(inputs.map(\.name))
    preprocessing = preprocessing.compactMap { step in
      var step = step
      let name = step.featureName.isEmpty ? firstImage ?? "" : step.featureName
      guard names.contains(name) else { return nil }
      if names.count != old.count { step.featureName = name }
      return step
    }
  }
}
