/// Whose class or function a stored object is of.
///
/// Keras writes `module`, `class_name` and `registered_name`; its HDF5 files only `class_name`, with the
/// package of a registered class: `Addons>GELU`. So an HDF5 file cannot tell an unregistered class from one
/// of Keras.
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

  /// `Mine` of `Mine>Dense`; nil without a package.
  static func package(_ name: String) -> String? {
    name.lastIndex(of: ">").map { String(name[..<$0]) }
  }
}
