import CoreMLModel
import TensorCore

extension Model {
  /// The model with features renamed wherever their names stand: descriptions, layers,
  /// preprocessing and a classifier's names. All renamings happen at once, so two names may change
  /// places. A blob inside the network that has one of the new names gets another.
  ///
  /// - Throws: `.mismatch` where an old name is no feature or a new one is taken or given twice.
  public func renamingFeatures(_ names: [String: String]) throws -> Model {
    let names = names.filter { $0.key != $0.value }
    if names.isEmpty { return self }
    guard let description else {
      throw ModelError(.malformed, "the model has no description")
    }
    try check(names, description)
    var renaming = names
    if let network = neuralNetwork {
      if network.layers.contains(where: { $0.parameters is OpaqueLayer }) {
        throw ModelError(
          .unsupported, "layers that are not read may use the names of features",
          hint: "leave the features of models with layers of specification 4 and later as they are")
      }
      renaming.merge(network.evasions(names)) { first, _ in first }
    }
    return applying(renaming)
  }

  private func check(_ names: [String: String], _ description: ModelDescription) throws {
    let features = (description.input + description.output).map(\.name)
    for old in names.keys.sorted() where !features.contains(old) {
      throw ModelError(
        .mismatch, "the model has no feature '\(old)'",
        hint: "its features are " + features.map { "'\($0)'" }.joined(separator: ", "))
    }
    let targets = names.values.sorted()
    for (name, next) in zip(targets, targets.dropFirst()) where name == next {
      throw ModelError(.mismatch, "two features would be called '\(name)'")
    }
    for (old, new) in names.sorted(by: { $0.key < $1.key }) {
      guard !new.isEmpty else { throw ModelError(.mismatch, "'\(old)' needs a name") }
      guard !features.contains(new) || names[new] != nil else {
        throw ModelError(
          .mismatch, "'\(old)' cannot be called '\(new)', which is another feature")
      }
    }
  }

  private func applying(_ names: [String: String]) -> Model {
    var model = self
    func rename(_ name: inout String) { name = names[name] ?? name }
    func rename(_ list: inout [String]) { list = list.map { names[$0] ?? $0 } }
    if var description {
      for index in description.input.indices { rename(&description.input[index].name) }
      for index in description.output.indices { rename(&description.output[index].name) }
      for index in description.trainingInput.indices {
        rename(&description.trainingInput[index].name)
      }
      rename(&description.predictedFeatureName)
      rename(&description.predictedProbabilitiesName)
      model.description = description
    }
    if var network = neuralNetwork {
      for index in network.layers.indices {
        rename(&network.layers[index].input)
        rename(&network.layers[index].output)
      }
      for index in network.preprocessing.indices {
        rename(&network.preprocessing[index].featureName)
      }
      model.neuralNetwork = network
    }
    if case .neuralNetworkClassifier(var classifier)? = model.type {
      rename(&classifier.labelProbabilityLayerName)
      model.type = .neuralNetworkClassifier(classifier)
    }
    model.type = model.type?.mapPipeline { $0.applying(names) }
    return model
  }
}

extension NeuralNetwork {
  /// Other names for the blobs that have one of the new names and keep theirs so far.
  fileprivate func evasions(_ names: [String: String]) -> [String: String] {
    var taken = Set(layers.flatMap { $0.input + $0.output }).union(names.values)
    var result: [String: String] = [:]
    for name in names.values.sorted() where names[name] == nil {
      guard layers.contains(where: { $0.input.contains(name) || $0.output.contains(name) }) else {
        continue
      }
      var number = 1
      while taken.contains("\(name)__\(number)") { number += 1 }
      result[name] = "\(name)__\(number)"
      taken.insert("\(name)__\(number)")
    }
    return result
  }
}
