import CoreMLModel
import TensorCore

extension Model {
  /// The model with features renamed wherever their names occur: in descriptions, layers and
  /// networks inside layers, preprocessing, a classifier's names, training parameters and recorded
  /// layouts. The same applies to every model of a pipeline, including features between its models.
  /// All renamings happen at once, so two names can be swapped. An internal blob that already has
  /// one of the new names gets another name.
  ///
  /// - Throws: `.mismatch` if an old name is not a feature, or a new one is taken, given twice, or
  ///   not valid for a value of an ML Program; `.unsupported` for models that name their features
  ///   in code.
  package func renamingFeatures(_ names: [String: String]) throws -> Model {
    let names = names.filter { $0.key != $0.value }
    if names.isEmpty { return self }
    try require(description != nil, "the model has no description")
    try check(names)
    return try applying(names)
  }

  /// The names of all features in order, including those between the models of a pipeline.
  package var featureNames: [String] {
    var seen: Set<String> = []
    var names = [description].compactMap { $0 }.flatMap { $0.input + $0.output + $0.trainingInput }
      .map(\.name)
    for model in type?.pipeline?.models ?? [] { names += model.featureNames }
    return names.filter { seen.insert($0).inserted }
  }

  private var stateNames: [String] { description?.state.map(\.name) ?? [] }

  private func check(_ names: [String: String]) throws {
    let features = featureNames + stateNames
    for old in names.keys.sorted() where !features.contains(old) {
      throw ModelError(
        .mismatch, "the model has no feature '\(old)'",
        hint: "its features are " + features.map { "'\($0)'" }.joined(separator: ", "))
    }
    let targets = names.values.sorted()
    for (name, next) in zip(targets, targets.dropFirst()) where name == next {
      throw ModelError(.mismatch, "two features would have the name '\(name)'")
    }
    for (old, new) in names.sorted(by: { $0.key < $1.key }) {
      guard !new.isEmpty else { throw ModelError(.mismatch, "the new name of '\(old)' is empty") }
      try require(
        !features.contains(new) || names[new] != nil, .mismatch,
        "'\(old)' cannot be renamed to '\(new)', which is another feature")
    }
  }

  private func applying(_ features: [String: String]) throws -> Model {
    var model = self
    let own = Set(featureNames + stateNames)
    var names = features.filter { own.contains($0.key) }
    if names.isEmpty { return self }
    if let network = neuralNetwork {
      names.merge(network.evasions(names)) { first, _ in first }
    }
    func rename(_ name: inout String) { name = names[name] ?? name }
    if var description {
      for index in description.input.indices { rename(&description.input[index].name) }
      for index in description.output.indices { rename(&description.output[index].name) }
      for index in description.state.indices { rename(&description.state[index].name) }
      for index in description.trainingInput.indices {
        rename(&description.trainingInput[index].name)
      }
      rename(&description.predictedFeatureName)
      rename(&description.predictedProbabilitiesName)
      description.metadata?.renameFeatures(names)
      model.description = description
    }
    if var network = neuralNetwork {
      try network.rename(names)
      model.neuralNetwork = network
    }
    switch model.type {
    case .neuralNetworkClassifier(var classifier)?:
      rename(&classifier.labelProbabilityLayerName)
      model.type = .neuralNetworkClassifier(classifier)
    case .features(let features)?:
      model.type = .features(FeatureModel(features.parameters.renamingFeatures { names[$0] ?? $0 }))
    case .mlProgram?:
      model = try model.renamingProgramValues(names)
    case .opaque(var message)?:
      try require(
        !NameFields.unreadableModels.contains(message.field), .unsupported,
        "a model of type \(message.name ?? "number \(message.field)") names its features in code")
      if let positions = NameFields.model(message.field) {
        message.payload = try positions.rewriting(message.payload) { names[$0] ?? $0 }
        model.type = .opaque(message)
      }
    default: break
    }
    model.pipelineModels = try pipelineModels.map { try $0.applying(features) }
    return model
  }
}

extension Metadata {
  /// Prefixes of the keys under which an importer records properties of a feature.
  static let featurePrefixes = ["assay.layout.", "assay.shape.", "assay.type."]

  fileprivate mutating func renameFeatures(_ names: [String: String]) {
    let entries = userDefined
    for prefix in Self.featurePrefixes {
      for old in names.keys { userDefined[prefix + old] = nil }
      for (old, new) in names {
        if let value = entries[prefix + old] { userDefined[prefix + new] = value }
      }
    }
    // The options for decoding an output into boxes: `assay.detect.OUTPUT.…`.
    for (old, new) in names {
      let prefix = "assay.detect.\(old)."
      for (key, value) in entries where key.hasPrefix(prefix) {
        userDefined[key] = nil
        userDefined["assay.detect.\(new)." + key.dropFirst(prefix.count)] = value
      }
    }
  }
}

extension NeuralNetwork {
  fileprivate mutating func rename(_ names: [String: String]) throws {
    for index in layers.indices { try layers[index].renameBlobs(names) }
    for index in preprocessing.indices {
      let name = preprocessing[index].featureName
      preprocessing[index].featureName = names[name] ?? name
    }
    if var message = updateParams {
      message.payload = try NameFields.updateParameters.rewriting(message.payload) {
        names[$0] ?? $0
      }
      updateParams = message
    }
  }

  /// Other names for internal blobs that have one of the new names and are not renamed themselves.
  fileprivate func evasions(_ names: [String: String]) -> [String: String] {
    let blobs = layers.reduce(into: Set<String>()) { $0.formUnion($1.blobNames) }
    var pool = NamePool(blobs.union(names.values)) { "__\($0)" }
    var result: [String: String] = [:]
    for name in names.values.sorted() where names[name] == nil && blobs.contains(name) {
      result[name] = pool.take(name)
    }
    return result
  }
}

extension NeuralNetworkLayer {
  /// The names of all blobs that the layer and any networks inside it use.
  var blobNames: Set<String> { Set(input + output).union(innerBlobNames) }

  /// The names of the blobs that networks inside the layer use.
  var innerBlobNames: Set<String> {
    guard let control = parameters as? any ControlLayer else { return [] }
    let condition = (control as? Loop)?.conditionVar ?? ""
    return control.networks.flatMap(\.layers).reduce(into: condition.isEmpty ? [] : [condition]) {
      $0.formUnion($1.blobNames)
    }
  }

  fileprivate mutating func renameBlobs(_ names: [String: String]) throws {
    input = input.map { names[$0] ?? $0 }
    output = output.map { names[$0] ?? $0 }
    if var control = parameters as? any ControlLayer {
      for network in control.networks.indices {
        for layer in control.networks[network].layers.indices {
          try control.networks[network].layers[layer].renameBlobs(names)
        }
      }
      if var loop = control as? Loop {
        loop.conditionVar = names[loop.conditionVar] ?? loop.conditionVar
        control = loop
      }
      parameters = control
    }
    if let message = (parameters as? OpaqueLayer)?.message {
      try require(
        message.name != nil, .unsupported, "a layer of unknown type may refer to features by name",
        layer: name)
    }
  }
}
