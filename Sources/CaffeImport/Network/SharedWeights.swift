extension CaffeWeights {
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
}

extension LayerCall {
  /// The names by which it shares weights.
  fileprivate var sharedNames: [String] {
    message.messages("param").map { $0.string("name") ?? "" }
  }
}
