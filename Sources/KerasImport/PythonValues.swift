import ByteFormats

/// Converts Python values that Keras wraps in objects to plain JSON.
enum PythonValues {
  /// Tuples and shapes become arrays, NumPy arrays and tensors become lists of their elements, and
  /// a dtype policy becomes its name. Other objects become their class names.
  static func plain(_ json: JSONValue) -> JSONValue {
    switch json {
    case .array(let elements): return .array(elements.map(plain))
    case .object(let object):
      if let value = wrapped(object) { return plain(value) }
      var result = JSONObject()
      for (name, value) in StoredIdentity.resolved(object).members { result[name] = plain(value) }
      return .object(result)
    default: return json
    }
  }

  private static func wrapped(_ object: JSONObject) -> JSONValue? {
    switch object["class_name"]?.string {
    case "__tuple__", "TensorShape", "__numpy__", "__tensor__", "Tensor":
      return object["items"] ?? object["config"]?["value"] ?? object["value"]
    case "DTypePolicy", "Policy", "FloatDTypePolicy":
      return object["config"]?["name"]
    case nil where object["type"]?.string == "ndarray": return object["value"]
    default: return nil
    }
  }
}

extension StoredIdentity {
  /// The object with a `class_name` that is one of Keras's only if the class is: another class of that name
  /// keeps its package, as in `Mine>Dense`. A function of another package keeps it in its name.
  static func resolved(_ object: JSONObject) -> JSONObject {
    guard let written = object["class_name"]?.string, let owner = owner(of: object) else {
      return object
    }
    var result = object
    if ["function", "Function"].contains(written) {
      if let name = object["config"]?.string, !name.contains(">") {
        result["config"] = .string("\(owner)>\(name)")
      }
      return result
    }
    let name = plainName(written)
    let full = "\(owner)>\(name)"
    let isKnown = !KerasLayerRegistry.kerasNames.contains(name) || isSame(owner, name)
    result["class_name"] = .string(isKnown ? name : full)
    result["registered_name"] = .string(full)
    return result
  }

  /// The package of a class that is not Keras's; nil if it is, or if the file does not say.
  private static func owner(of object: JSONObject) -> String? {
    let names = ["registered_name", "class_name"].compactMap { object[$0]?.string }
    if let name = names.first(where: { $0.contains(">") }) { return package(name) }
    guard let module = object["module"] else { return nil }
    let isFunction = ["function", "Function"].contains(object["class_name"]?.string)
    // Keras writes null for the program's main module, and `builtins` for every function.
    guard let module = module.string else { return isFunction ? nil : "__main__" }
    if isKeras(module: module) {
      let isOther = names.count > 1 && names[0] != names[1] && !isFunction
      return isOther ? names[0] : nil
    }
    return isFunction && module == "builtins" ? nil : module
  }

  /// Whether a package's class computes what Keras's class of this name does.
  private static func isSame(_ package: String, _ name: String) -> Bool {
    switch package.prefix(while: { $0 != "." }) {
    case "Addons", "tensorflow_addons":
      name == "GroupNormalization" || name == "SpectralNormalization" || name.hasPrefix("Adaptive")
    case "keras_cv": Dropout.classNames.contains(name) && name != "StochasticDepth"
    case "keras_resnet": name == "BatchNormalization"
    case "keras_hub", "keras_nlp": name == "ReversibleEmbedding"
    default: false
    }
  }
}
