import CoreMLModel
import TensorCore

extension Model {
  /// The model with the blob as another output, an array of the shape `shape` that the blob has
  /// inside the network, where that is known.
  ///
  /// - Throws: `.mismatch` if the network has no such blob, or it is a feature already.
  package func addingOutput(
    _ blob: String, shape: [Int]?, dataType: ArrayFeatureType.DataType
  ) throws -> Model {
    guard let network = neuralNetwork else { throw Self.noNetwork("takes outputs") }
    try require(
      network.layers.contains(where: { $0.output.contains(blob) }), .mismatch,
      "the network has no blob '\(blob)'", hint: "list its layers with `assay inspect`"
    )
    try require(!featureNames.contains(blob), .mismatch, "'\(blob)' is already a feature")
    var model = self
    model.description?.output.append(
      network.arrayFeature(blob, shape: shape, dataType: dataType))
    return model
  }

  /// The model without the output `name`. What computes it stays, in a pipeline the model's own output,
  /// too.
  ///
  /// - Throws: `.mismatch` if there is no such output, no other, or a classifier needs it.
  package func removingOutput(_ name: String) throws -> Model {
    guard neuralNetwork != nil || type?.pipeline != nil else {
      throw Self.noNetwork("loses outputs")
    }
    var model = self
    let outputs = description?.output ?? []
    try require(
      outputs.contains(where: { $0.name == name }), .mismatch, "the model has no output '\(name)'",
      hint: "its outputs are " + outputs.map { "'\($0.name)'" }.joined(separator: ", "))
    guard outputs.count > 1 else { throw ModelError(.mismatch, "'\(name)' is the only output") }
    guard name != description?.predictedFeatureName,
      name != description?.predictedProbabilitiesName
    else { throw ModelError(.mismatch, "the classifier needs '\(name)'") }
    model.description?.output.removeAll { $0.name == name }
    model.description?.metadata?.forgetFeature(name)
    return model
  }

  static func noNetwork(_ what: String) -> ModelError {
    ModelError(.unsupported, "only a neural network \(what)")
  }
}

extension NeuralNetwork {
  /// A feature for a blob: of five axes `[C]`, or `[C, H, W]` where it has a height and a width; with
  /// exact mapping of the blob's own shape.
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
  /// Takes away what is recorded of a feature that is gone.
  mutating func forgetFeature(_ name: String) {
    for prefix in Self.featurePrefixes { userDefined[prefix + name] = nil }
  }
}
