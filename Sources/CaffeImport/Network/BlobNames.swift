import CoreMLModel

/// The names that blobs have in the end. The newest version of a Caffe blob has the blob's name; an
/// earlier one is `BLOB_<n><layer>`, where `layer` is the one that replaces it and `n` its place.
struct BlobNames {
  private var names: [String: String] = [:]
  private var inputs: Set<String> = []
  /// The Core ML blob that holds the newest version of each Caffe blob.
  private var newest: [String: String] = [:]

  mutating func addInput(_ blob: String) { inputs.insert(blob) }

  /// Takes down that a layer has made a version of a Caffe blob, replacing the one that lies in
  /// `replaced`.
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

  /// The final name of every blob that gets another one.
  ///
  /// - Parameter layers: all layers of the network, whose other blobs keep their names.
  func renamings(_ layers: [NeuralNetworkLayer]) -> [String: String] {
    var taken = NamePool(
      Set(layers.flatMap(\.output)).union(inputs).subtracting(names.keys))
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
