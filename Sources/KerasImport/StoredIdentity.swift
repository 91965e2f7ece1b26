/// Whose class or function a stored object is of.
///
/// Keras stores `module`, `class_name` and `registered_name`; its HDF5 files only have
/// `class_name`, with the package of a registered class, as in `Addons>GELU`. Therefore,
/// unregistered classes in an HDF5 file are indistinguishable from Keras's.
enum StoredIdentity {
  /// Whether a Python module is a part of Keras, in any of its distributions, or of TensorFlow.
  static func isKeras(module: String) -> Bool {
    let root = module.prefix { $0 != "." }
    return ["keras", "tf_keras", "keras_core", "tensorflow"].contains(String(root))
  }

  /// The name without its package: `Dense` of `Mine>Dense`.
  static func plainName(_ name: String) -> String {
    name.lastIndex(of: ">").map { String(name[name.index(after: $0)...]) } ?? name
  }

  /// The package in a name, such as `Mine` in `Mine>Dense`; nil if there is none.
  static func package(_ name: String) -> String? {
    name.lastIndex(of: ">").map { String(name[..<$0]) }
  }
}
