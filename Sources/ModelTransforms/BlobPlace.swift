import CoreMLModel

/// A blob of a network, or of a network inside a pipeline.
package struct BlobPlace: Sendable, Hashable {
  /// The places of the models that lead to the network, from the outermost pipeline inwards; empty
  /// for a network that stands alone.
  package var models: [Int]
  package var blob: String

  package init(_ blob: String, models: [Int] = []) {
    self.models = models
    self.blob = blob
  }

  /// The same blob as the model at `models[0]` sees it.
  var inside: BlobPlace { BlobPlace(blob, models: Array(models.dropFirst())) }
}

extension Model {
  /// The output feature of a name.
  func output(_ name: String) -> FeatureDescription? {
    description?.output.first { $0.name == name }
  }

  /// Whether a name is that of an input feature.
  package func takes(_ input: String) -> Bool {
    description?.input.contains { $0.name == input } == true
  }

  /// The place of the model that has a pipeline's feature: the last one that gives it, since that is
  /// what passes on, or the first one that takes it.
  package func owner(ofFeature name: String) -> Int? {
    pipelineModels.lastIndex { $0.output(name) != nil }
      ?? pipelineModels.firstIndex { $0.takes(name) }
  }
}

/// The shapes of a network's blobs, as far as they are known.
package typealias BlobShapes = (Model) -> [String: [Int]]
