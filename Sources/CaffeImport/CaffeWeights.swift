import HDF5Reader
import TensorCore

/// The weights in a file, by layer name.
package struct CaffeWeights: Sendable {
  package let path: String
  /// In file order; the last layer with a name counts, because Caffe copies each to the network.
  package let layers: [(name: String, blobs: [CaffeBlob])]
  private let byName: [String: Int]
  private(set) var notes: [String] = []

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

  /// The weights of each of a network's layers, as Caffe copies them: to the first of several layers
  /// with one name, and layers that share a weight by name all have the last one in the file.
  func blobs(of network: [LayerCall]) -> [[CaffeBlob]] {
    var names: Set<String> = []
    var blobs = network.map { names.insert($0.name).inserted ? self[$0.name] ?? [] : [] }
    var shared: [String: (position: Int, blob: CaffeBlob)] = [:]
    for (layer, own) in zip(network, blobs) {
      for (name, blob) in zip(layer.sharedNames, own) where !name.isEmpty {
        let position = byName[layer.name] ?? 0
        if position >= shared[name]?.position ?? 0 { shared[name] = (position, blob) }
      }
    }
    for index in network.indices {
      for (place, name) in network[index].sharedNames.enumerated() {
        guard let blob = shared[name]?.blob, place <= blobs[index].count else { continue }
        blobs[index].replaceSubrange(place..<min(place + 1, blobs[index].count), with: [blob])
      }
    }
    return blobs
  }

  init(_ path: String, _ file: CaffeFile, access: HDF5Access) throws {
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

  init(path: String, network: CaffeMessage) throws {
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
  init(path: String, hdf5 file: HDF5File) throws {
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

extension LayerCall {
  /// The names by which it shares weights.
  fileprivate var sharedNames: [String] {
    message.messages("param").map { $0.string("name") ?? "" }
  }
}
