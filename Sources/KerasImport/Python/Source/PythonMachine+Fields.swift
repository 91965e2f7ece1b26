import ByteFormats

extension PythonMachine {
  /// A value as configurations have it.
  func json(_ symbol: PythonSymbol) throws -> JSONValue {
    switch symbol {
    case .none: return .null
    case .bool(let value): return .bool(value)
    case .int(let value): return .int(value)
    case .double(let value): return .double(value)
    case .string(let value): return .string(value)
    case .tuple, .list, .sizes: return .array(try (symbol.elements ?? []).map { try json($0) })
    case .dictionary(let members):
      var object = JSONObject()
      for (key, value) in members.members { object[key] = try json(value) }
      return .object(object)
    case .library(let path):
      if Self.isTraining(path) { return .null }
      let last = path.split(separator: ".").last.map(String.init) ?? path
      if Self.isActivation(path, last) { return .string(last) }
    case .object(let object):
      guard object.type == nil, let className = object.layerClass, !object.isModel,
        object["activation"] == nil, className != "Lambda"
      else { break }
      var stored = JSONObject()
      stored["class_name"] = .string(className)
      stored["config"] = .object(object.fields)
      return .object(stored)
    default: break
    }
    throw Self.unsupported("a layer in it gets \(PythonText.text(symbol)) as an argument")
  }

  /// Whether a function is that of Keras by the same name.
  private static func isActivation(_ path: String, _ name: String) -> Bool {
    path.hasPrefix("keras.activations.") || ["tf.tanh", "tf.sigmoid"].contains(path)
      || ["tf.nn." + name, "keras.backend." + name].contains(path)
        && KerasActivation(name, version: KerasVersion(text: "2.4.0", backend: nil)) != nil
  }

  /// What only training needs.
  static func isTraining(_ path: String) -> Bool {
    ["keras.initializers.", "keras.regularizers.", "keras.constraints.", "tf.initializers."]
      .contains { path.hasPrefix($0) } || path.hasSuffix("_initializer")
  }
}
