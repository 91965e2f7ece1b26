import ByteFormats

/// The class of a stored object: keras/src/saving/serialization_lib.py and, for files without
/// modules, keras/src/legacy/saving/serialization.py.
enum ClassIdentity {
  /// The class name, with its package if it is another package's class with a name of Keras's.
  static func name(_ object: JSONValue) -> String {
    let written = object["class_name"]?.string ?? ""
    let plain = written.split(separator: ">").last.map(String.init) ?? ""
    guard let package = package(object), !packageClasses.contains(plain),
      package != "Addons" || plain != "GroupNormalization"
    else { return plain }
    return "\(package)>\(plain)"
  }

  /// The name of a function, prefixed with its package unless that is Keras.
  static func function(_ object: JSONValue) -> String? {
    guard let name = object.string ?? object["config"]?.string else { return nil }
    let isBuiltIn = object["module"]?.string == "builtins"
    guard !isBuiltIn, !name.contains(">"), let package = package(object) else { return name }
    return "\(package)>\(name)"
  }

  /// The package of an object; nil for Keras.
  private static func package(_ object: JSONValue) -> String? {
    for field in ["registered_name", "class_name"] {
      let parts = (object[field]?.string ?? "").split(separator: ">")
      if parts.count > 1 { return parts.dropLast().joined(separator: ">") }
    }
    guard let module = object["module"] else { return nil }
    let path = (module.string ?? "__main__").split(separator: ".").map(String.init)
    return ["keras", "tf_keras", "keras_core", "tensorflow"].contains(path.first) ? nil : path.first
  }

  /// Classes that are never Keras's, whatever the package.
  private static let packageClasses = Set(AttentionModels.operations.keys)
    .union(VisionTransformers.operations.keys)
    .union([
      "BatchNorm", "CustomScaleLayer", "DepthwiseConv3D", "DeprocessStylizedImage", "DropBlock1D",
      "DropBlock2D", "DropConnect", "FixedBatchNormalization", "FixedDropout", "GradientReversal",
      "InstanceNormalization", "L2Normalization", "Normalize2D", "ReflectPadding2D",
      "ReflectionPadding2D", "Scale", "SubPixelUpscaling", "UpsampleLike", "DepthToSpace",
      "Normalize", "PatchEncoder", "Patches",
    ])
}
