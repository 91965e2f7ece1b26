import CoreMLModel
import TensorCore

/// Writes a network's tensors in order as the layers of a document.
final class DocumentWriter {
  var layers: [NeuralNetworkLayer] = []
  /// Names of layers and blobs that are taken.
  private var layerNames: NamePool
  private var blobNames: NamePool
  private let source: WeightSource
  private var given: [String: FloatValues] = [:]

  /// - Parameter names: names of layers and inputs, which are not generated again.
  init(_ source: WeightSource, names: Set<String>) {
    self.source = source
    layerNames = NamePool(names)
    blobNames = layerNames
  }

  /// `name`, with underscores appended if it is in use.
  func unique(_ name: String, isBlob: Bool = false) -> String {
    isBlob ? blobNames.take(name) : layerNames.take(name)
  }

  /// A name for both a layer and its blob.
  func uniqueApplication(_ name: String, _ number: Int) -> String {
    var name = layerNames.take("\(name)_\(number)")
    while blobNames.contains(name) { name = layerNames.take(name) }
    return blobNames.take(name)
  }

  func weights(
    _ name: String, _ kind: WeightKind, _ shape: [Int], fanIn: Int
  ) throws -> FloatValues {
    let key = name + kind.suffix
    if let values = given[key] {
      try require(
        values.shape == shape, .mismatch,
        "its weights are \(Self.text(values.shape)) for one input and \(Self.text(shape)) for "
          + "another", field: kind.rawValue,
        hint: "a layer applied to several tensors shares its weights")
      return values
    }
    let values = try source.values(name, kind, shape, fanIn: fanIn)
    given[key] = values
    return values
  }

  private static func text(_ shape: [Int]) -> String {
    shape.map(String.init).joined(separator: " × ")
  }
}
