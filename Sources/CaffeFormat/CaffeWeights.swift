import HDF5Reader

/// The weights in a file, by layer name.
package struct CaffeWeights: Sendable {
  package let path: String
  /// In file order; of layers with the same name the last counts, because Caffe copies each.
  package let layers: [(name: String, blobs: [CaffeBlob])]
  /// The index of the last layer with each name.
  package let byName: [String: Int]
  package private(set) var notes: [String] = []

  package subscript(layer: String) -> [CaffeBlob]? { byName[layer].map { layers[$0].blobs } }

  private init(path: String, layers: [(name: String, blobs: [CaffeBlob])]) {
    self.path = path
    self.layers = layers
    byName = Dictionary(
      layers.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { _, last in last })
    self.notes += layers.enumerated().compactMap { index, layer in
      guard !layer.blobs.isEmpty, let last = byName[layer.name], last != index else { return nil }
      return "\(path) has several layers '\(layer.name)'; the last one's weights count"
    }
  }

  package init(_ path: String, _ file: CaffeFile, access: HDF5Access) throws {
    self = try inFile(path) {
      switch file {
      case .text: throw ModelError(.mismatch, "is a text file, not a weights file")
      case .hdf5:
        return try CaffeWeights(path: path, hdf5: HDF5File.open(path, access: access))
      case .binary(let bytes):
        var notes: [String] = []
        let network = try BinaryReader.network(bytes, notes: &notes)
        return try CaffeWeights(path: path, network: network)
      }
    }
  }

  package init(path: String, network: CaffeMessage) throws {
    let layers = try network.messages("layer").map { layer in
      let name = layer.string("name") ?? ""
      let blobs = try layer.messages("blobs").map { blob in
        do { return try CaffeBlob(blob) } catch let error as ModelError {
          throw error.inLayer(name, class: layer.string("type")).inFile(path)
        }
      }
      return (name, blobs)
    }
    self.init(path: path, layers: layers)
  }

  /// `/data/LAYER/0`, `/data/LAYER/1`, …; a slash in a layer's name creates a nested group.
  package init(path: String, hdf5 file: HDF5File) throws {
    guard case .group(let data)? = file["data"] else {
      throw ModelError(
        .malformed, "the file has no group 'data'", hint: "the file contains no Caffe weights")
    }
    var layers: [(name: String, blobs: [CaffeBlob])] = []
    func visit(_ group: HDF5Group, _ name: String) throws {
      let datasets = Dictionary(
        group.datasets.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
      var blobs: [CaffeBlob] = []
      while let dataset = datasets["\(blobs.count)"] {
        blobs.append(
          CaffeBlob(
            shape: dataset.shape, isLegacy: false, storage: .deferred { try dataset.values() }))
      }
      if !blobs.isEmpty { layers.append((name, blobs)) }
      for inner in group.groups {
        try visit(inner, name.isEmpty ? inner.name : "\(name)/\(inner.name)")
      }
    }
    try visit(data, "")
    self.init(path: path, layers: layers)
  }
}
