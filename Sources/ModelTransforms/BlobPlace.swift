import CoreMLModel

/// A blob of a network, or of a network inside a pipeline.
public struct BlobPlace: Sendable, Hashable {
  /// The places of the models that lead to the network, from the outermost pipeline inwards; empty
  /// for a network that stands alone.
  public var models: [Int]
  public var blob: String

  public init(_ blob: String, models: [Int] = []) {
    self.models = models
    self.blob = blob
  }

  /// The same blob as the model at `models[0]` sees it.
  var inside: BlobPlace { BlobPlace(blob, models: Array(models.dropFirst())) }
}

/// The shapes of a network's blobs, as far as they are known.
public typealias BlobShapes = (Model) -> [String: [Int]]
