import CoreMLModel

/// A blob of a network, or of a network inside a pipeline.
package struct BlobPath: Sendable, Hashable {
  /// The indices of the models that lead to the network, from the outermost pipeline inward; empty
  /// if the network is not in a pipeline.
  package var models: [Int]
  package var blob: String

  package init(_ blob: String, models: [Int] = []) {
    self.models = models
    self.blob = blob
  }

  /// The same blob, as seen from the model at index `models[0]`.
  var inside: BlobPath { BlobPath(blob, models: Array(models.dropFirst())) }
}

extension Model {
  /// The output feature with the name `name`.
  func output(_ name: String) -> FeatureDescription? {
    description?.output.first { $0.name == name }
  }

  /// Whether there is an input feature named `input`.
  package func takes(_ input: String) -> Bool {
    description?.input.contains { $0.name == input } == true
  }

  /// The index of the model that owns a pipeline's feature: the last one that computes it, whose
  /// value is passed on, or else the first one that takes it.
  package func owner(ofFeature name: String) -> Int? {
    pipelineModels.lastIndex { $0.output(name) != nil }
      ?? pipelineModels.firstIndex { $0.takes(name) }
  }
}

/// The known shapes of a network's blobs.
package typealias BlobShapes = (Model) -> [String: [Int]]
