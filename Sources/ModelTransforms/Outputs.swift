import CoreMLModel
import TensorCore

extension Model {
  /// The model with the blob, or the value of an ML Program, as an additional output: an array with
  /// `shape`, the shape of the blob inside the network, if known.
  ///
  /// - Throws: `.mismatch` if the network has no such blob, or the blob is already a feature.
  package func addingOutput(
    _ blob: String, shape: [Int]?, dataType: ArrayFeatureType.DataType
  ) throws -> Model {
    if case .mlProgram? = type { return try addingProgramOutput(blob) }
    guard let network = neuralNetwork else { throw Self.noNetwork("takes outputs") }
    try network.requireBlob(blob)
    try require(!featureNames.contains(blob), .mismatch, "'\(blob)' is already a feature")
    var model = self
    model.description?.output.append(network.arrayFeature(blob, shape: shape, dataType: dataType))
    return model
  }

  /// The model without the output `name`. The layers that compute it stay, and so do the outputs of
  /// a pipeline's models.
  ///
  /// - Throws: `.mismatch` if there is no such output, if it is the only one, or if a classifier
  ///   needs it.
  package func removingOutput(_ name: String) throws -> Model {
    guard neuralNetwork != nil || isMLProgram || type?.pipeline != nil else {
      throw Self.noNetwork("loses outputs")
    }
    let outputs = (description?.output ?? []).map(\.name)
    guard outputs.contains(name) else { throw ModelError.unknown("output", name, among: outputs) }
    guard outputs.count > 1 else { throw ModelError(.mismatch, "'\(name)' is the only output") }
    guard name != description?.predictedFeatureName,
      name != description?.predictedProbabilitiesName
    else { throw ModelError(.mismatch, "the classifier needs '\(name)'") }
    var model = try removingProgramOutput(name)
    model.description?.output.removeAll { $0.name == name }
    model.description?.metadata?.forgetFeature(name)
    return model
  }

  static func noNetwork(_ what: String) -> ModelError {
    ModelError(.unsupported, "only a neural network \(what)")
  }
}

extension NeuralNetwork {
  /// An array feature for a blob: `[C]`, or `[C, H, W]` if the blob has a height and a width;
  /// with exact mapping, the blob's shape.
  func arrayFeature(
    _ name: String, shape: [Int]?, dataType: ArrayFeatureType.DataType
  ) -> FeatureDescription {
    var declared = shape ?? []
    if arrayInputShapeMapping == .rank5, declared.count == 5 {
      declared = Array(declared[3] == 1 && declared[4] == 1 ? declared[2...2] : declared[2...])
    }
    return FeatureDescription(
      name: name, kind: .multiArray(ArrayFeatureType(shape: declared, dataType: dataType)))
  }
}

extension Metadata {
  /// Removes the recorded entries of a feature that no longer exists.
  mutating func forgetFeature(_ name: String) {
    for prefix in Self.featurePrefixes { userDefined[prefix + name] = nil }
  }
}
