import ImportSupport

/// The Python function of a Lambda layer, by name.
enum LambdaFunction {
  /// The name in a Lambda's configuration; nil where the code cannot be read.
  ///
  /// The code stands as base64 or, in older files, as the bytes themselves, one a character; alone,
  /// in a list `[code, defaults, closure]`, or in an object around that.
  static func name(in fields: JSONObject) -> String? {
    guard let function = fields["function"] else { return nil }
    if fields["function_type"]?.string == "function", let name = function.string {
      return ActivationFunction.plainName(name)
    }
    return name(function, depth: 0)
  }

  private static func name(_ json: JSONValue, depth: Int) -> String? {
    guard depth < 8 else { return nil }
    switch json {
    case .string(let text): return name(code: text)
    case .array(let elements): return elements.first.flatMap { name($0, depth: depth + 1) }
    case .object(let object):
      if object["class_name"]?.string == "function" {
        return object["config"]?.string.map(ActivationFunction.plainName)
      }
      for field in ["items", "config", "code"] {
        if let inner = object[field], !inner.isNull { return name(inner, depth: depth + 1) }
      }
      return nil
    default: return nil
    }
  }

  private static func name(code: String) -> String? {
    if let bytes = Base64.decode(code.utf8), let name = PythonMarshal.functionName(bytes) {
      return name
    }
    var bytes: [UInt8] = []
    for scalar in code.unicodeScalars {
      if scalar.value < 0x100 {
        bytes.append(UInt8(scalar.value))
      } else {
        // Python's raw_unicode_escape reads \uXXXX in the bytes as one character.
        let digits = String(scalar.value, radix: 16)
        let width = scalar.value < 0x10000 ? 4 : 8
        bytes += Array((width == 4 ? "\\u" : "\\U").utf8)
        bytes += Array(String(repeating: "0", count: width - digits.count).utf8)
        bytes += Array(digits.utf8)
      }
    }
    return PythonMarshal.functionName(bytes)
  }
}
