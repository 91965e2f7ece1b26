import CoreMLModel

/// The final names of blobs. The newest version of a Caffe blob keeps the blob's name; earlier ones
/// become `BLOB_<n><layer>`, with the name and index `n` of the layer that replaces them.
struct BlobNames {
  private var names: [String: String] = [:]
  private var inputs: Set<String> = []
  /// The Core ML blob of the newest version of each Caffe blob.
  private var newest: [String: String] = [:]

  mutating func addInput(_ blob: String) { inputs.insert(blob) }

  /// Records that a layer has produced a new version of a Caffe blob, which replaces `replaced`.
  mutating func made(
    _ caffeBlob: String, _ blob: String, by layer: String, position: Int,
    replacing replaced: String?
  ) {
    if let replaced, replaced != blob, newest[caffeBlob] == replaced {
      names[replaced] = "\(caffeBlob)_\(position)\(layer)"
    }
    newest[caffeBlob] = blob
    if !inputs.contains(blob), !inputs.contains(caffeBlob) { names[blob] = caffeBlob }
  }

  /// The final names of all renamed blobs.
  ///
  /// - Parameter layers: all layers of the network; their other blobs keep their names.
  func renamings(_ layers: [NeuralNetworkLayer]) -> [String: String] {
    var taken = NamePool(Set(layers.flatMap(\.output)).union(inputs).subtracting(names.keys))
    let current = Set(newest.values)
    var result: [String: String] = [:]
    for (blob, name) in names.sorted(by: {
      (current.contains($0.key) ? 0 : 1, $0.key) < (current.contains($1.key) ? 0 : 1, $1.key)
    }) {
      result[blob] = taken.take(name)
    }
    return result
  }
}
