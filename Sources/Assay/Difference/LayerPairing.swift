import CoreMLModel
import TensorCore

/// Which layers and blobs of two networks belong together.
package struct LayerPairing: Sendable {
  /// Indices in the two networks, in the order of the first.
  package let layers: [(a: Int, b: Int)]
  package let removed: [Int]
  package let added: [Int]
  /// The second network's blob for each blob of the first that holds the same quantity.
  package let blobs: [String: String]

  /// Pairs layers by name, and the rest by structure, in order: first by equal types, fields and
  /// weight shapes, then by equal types and shapes alone.
  package init(_ a: [NeuralNetworkLayer], _ b: [NeuralNetworkLayer]) throws {
    var partners = [Int?](repeating: nil, count: a.count)
    var taken = [Bool](repeating: false, count: b.count)
    let positions = Dictionary(first: b.indices.map { (b[$0].name, $0) })
    for index in a.indices {
      guard let position = positions[a[index].name], !taken[position] else { continue }
      partners[index] = position
      taken[position] = true
    }
    let signatures: [(NeuralNetworkLayer) throws -> String] = [
      Self.exactSignature, Self.looseSignature,
    ]
    for signature in signatures {
      var open: [String: [Int]] = [:]
      for index in b.indices.reversed() where !taken[index] {
        open[try signature(b[index]), default: []].append(index)
      }
      for index in a.indices where partners[index] == nil {
        guard let position = open[try signature(a[index])]?.popLast() else { continue }
        partners[index] = position
        taken[position] = true
      }
    }
    layers = partners.enumerated().compactMap { index, position in position.map { (index, $0) } }
    removed = a.indices.filter { partners[$0] == nil }
    added = b.indices.filter { !taken[$0] }
    blobs = BlobPairing(a, b, layers).blobs
  }

  private static func looseSignature(_ layer: NeuralNetworkLayer) -> String {
    let shapes = (layer.parameters?.weights ?? []).map { "\($0.name)\($0.shape)" }
    return "\(layer.parameters?.specificationTypeName ?? "") \(layer.input.count) "
      + "\(layer.output.count) \(shapes)"
  }

  private static func exactSignature(_ layer: NeuralNetworkLayer) throws -> String {
    looseSignature(layer) + (try layer.flatFields().map { "\($0.path)\($0.values)" }.joined())
  }
}
