import HDF5Reader

/// A weight in a file.
package struct StoredWeight: Sendable {
  /// Short name by which the layer requests it, such as `kernel`.
  package var name: String
  /// Name in the file.
  package var storedName: String
  package var shape: [Int]
  /// Of whole numbers with more digits than single precision keeps, such as `int64`.
  package var wideType: String?
  package var values: @Sendable () throws -> FloatValues

  package init(
    name: String, storedName: String, shape: [Int], wideType: String? = nil,
    values: @escaping @Sendable () throws -> FloatValues
  ) {
    self.name = name
    self.storedName = storedName
    self.shape = shape
    self.wideType = wideType
    self.values = values
  }

  /// A dataset of a file.
  package init(name: String, storedName: String, _ dataset: HDF5Dataset) {
    let type = dataset.originalType
    self.init(
      name: name, storedName: storedName, shape: dataset.shape,
      wideType: type.isInteger && type.byteCount > 2 ? type.description : nil,
      values: { try dataset.values() })
  }

  /// `beta` for `a/b/beta:0`, and for Keras 1's `swish_1_beta:0` in the layer `swish_1`.
  package static func shortName(_ stored: String, layer: String) -> String {
    var name = stored.split(separator: "/").last.map(String.init) ?? stored
    if let colon = name.lastIndex(of: ":") { name = String(name[..<colon]) }
    if name.hasPrefix(layer + "_") { name = String(name.dropFirst(layer.utf8.count + 1)) }
    return name
  }
}

/// Where the weights of a model are stored: `LayerWeights` or `ObjectWeights`.
package protocol KerasWeights: Sendable {}

/// Weights grouped by layer, as in the `.h5` files of all versions of Keras.
package protocol LayerWeights: KerasWeights {
  /// In file order.
  var layerNames: [String] { get }
  /// The weights of one of `layerNames`, in file order.
  func weights(of layer: String) throws -> [StoredWeight]
}

/// Weights in an HDF5 file, where each layer's group lists its datasets in `weight_names`.
package struct HDF5LayerWeights: LayerWeights {
  private let root: HDF5Group
  package let layerNames: [String]

  /// - Parameter root: the group with the attribute `layer_names`.
  package init(root: HDF5Group) throws {
    self.root = root
    layerNames = root.attributeStrings("layer_names") ?? []
    try require(layerNames.count <= Limits.layers, .limitExceeded, "\(layerNames.count) layers")
  }

  package func weights(of layer: String) throws -> [StoredWeight] {
    let group = try root.group(layer)
    return try (group.attributeStrings("weight_names") ?? []).map { stored in
      let dataset = try group.dataset(stored)
      return StoredWeight(
        name: StoredWeight.shortName(stored, layer: layer), storedName: stored, dataset)
    }
  }
}
