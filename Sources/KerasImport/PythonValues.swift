import ByteFormats

/// Python values that Keras wraps in objects of their own, as plain JSON.
enum PythonValues {
  /// Tuples and shapes become arrays, NumPy arrays and tensors their elements, and a dtype policy its
  /// name; other objects get the names of their classes.
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
