import HDF5Reader

extension KerasFile {
  /// A group of a `.weights.h5` file: an object with its arrays, in their order, and the objects that it
  /// holds.
  package struct StoredObject: Sendable {
    package let arrays: [StoredArray]
    package let children: [String: StoredObject]

    init(_ node: HDF5Node) {
      let own = node["vars"]?.datasets ?? [:]
      arrays = own.values.sorted {
        (Int($0.name) ?? .max, $0.name) < (Int($1.name) ?? .max, $1.name)
      }.map { dataset in
        StoredArray(name: dataset.path, shape: dataset.shape, values: { try dataset.values() })
      }
      children = node.children.filter { $0.key != "vars" }.mapValues { StoredObject($0) }
    }
  }

  /// The weights of a file that groups them by object, as Keras 2.12 and later do. Nil of other files.
  package func storedObjects() throws -> StoredObject? {
    try (weights as? ObjectWeights).map { StoredObject($0.root) }
  }
}
