import HDF5Reader
import TensorCore

/// A weight in its file.
struct StoredWeight: Sendable {
  /// Short name by which the layer asks for it, such as `kernel`.
  var name: String
  /// Name in the file.
  var storedName: String
  var shape: [Int]
  var values: @Sendable () throws -> FloatValues

  init(
    name: String, storedName: String, shape: [Int],
    values: @escaping @Sendable () throws -> FloatValues
  ) {
    self.name = name
    self.storedName = storedName
    self.shape = shape
    self.values = values
  }

  /// `a/b/beta:0` is `beta`, and so is Keras 1's `swish_1_beta:0` of the layer `swish_1`.
  static func shortName(_ stored: String, layer: String) -> String {
    var name = stored.split(separator: "/").last.map(String.init) ?? stored
    if let colon = name.lastIndex(of: ":") { name = String(name[..<colon]) }
    if name.hasPrefix(layer + "_") { name = String(name.dropFirst(layer.utf8.count + 1)) }
    return name
  }
}

/// The weights of a model, grouped by layer as Keras stores them.
protocol WeightSource: Sendable {
  /// In file order.
  var layerNames: [String] { get }
  /// The weights of one of `layerNames`, in file order.
  func weights(of layer: String) throws -> [StoredWeight]
}

/// Weights in an HDF5 file: the group of each layer lists its datasets in `weight_names`.
struct HDF5WeightSource: WeightSource {
  private let root: HDF5Group
  let layerNames: [String]

  /// - Parameter root: the group with the attribute `layer_names`.
  init(root: HDF5Group) throws {
    self.root = root
    layerNames = root.attributeStrings("layer_names") ?? []
    guard layerNames.count <= Limits.layers else {
      throw ModelError(.limitExceeded, "\(layerNames.count) layers")
    }
  }

  func weights(of layer: String) throws -> [StoredWeight] {
    let group = try root.group(layer)
    return try (group.attributeStrings("weight_names") ?? []).map { stored in
      let dataset = try group.dataset(stored)
      return StoredWeight(
        name: StoredWeight.shortName(stored, layer: layer), storedName: stored,
        shape: dataset.shape, values: { try dataset.values() })
    }
  }
}
