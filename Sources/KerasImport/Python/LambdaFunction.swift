import ByteFormats
import TensorCore

/// The Python function of a Lambda layer.
package enum LambdaFunction {
  /// The name in a Lambda's configuration; nil if the code cannot be read.
  ///
  /// The code stands as base64 or, in older files, as the bytes themselves, one a character; alone,
  /// in a list `[code, defaults, closure]`, or in an object around that.
  static func name(in fields: JSONObject) -> String? {
    fullName(in: fields).map { $0 == "<lambda>" ? $0 : ActivationFunction.plainName($0) }
  }

  /// The name with its package, if it is of another than Keras.
  static func fullName(in fields: JSONObject) -> String? {
    guard let function = fields["function"] else { return nil }
    if fields["function_type"]?.string == "function", let name = function.string { return name }
    return name(function, depth: 0)
  }

  /// The fields of a Lambda with the function of an `Activation`; nil unless its code is in the file.
  static func fields(ofActivation fields: JSONObject) -> JSONObject? {
    guard let activation = fields["activation"], let function = activation["value"],
      stored(function, depth: 0) != nil
    else { return nil }
    var result = JSONObject()
    for (name, value) in fields.members {
      result[name == "activation" ? "function" : name] = name == "activation" ? function : value
    }
    return result
  }

  private static func name(_ json: JSONValue, depth: Int) -> String? {
    if let stored = stored(json, depth: depth) { return stored.code.name }
    guard depth < 8 else { return nil }
    switch json {
    case .array(let elements): return elements.first.flatMap { name($0, depth: depth + 1) }
    case .object(let object):
      if object["class_name"]?.string == "function" { return object["config"]?.string }
      for field in ["items", "config", "code"] {
        if let inner = object[field], !inner.isNull { return name(inner, depth: depth + 1) }
      }
      return nil
    default: return nil
    }
  }

  /// The function of a Lambda of so many inputs; nil if its code is not in the file.
  static func program(in fields: JSONObject, inputCount: Int) -> PythonProgram? {
    guard fields["function_type"]?.string != "function", let function = fields["function"],
      let stored = stored(function, depth: 0)
    else { return nil }
    var surroundings = PythonFormula.Surroundings()
    surroundings.inputCount = inputCount
    surroundings.defaults = stored.defaults
    surroundings.closure = stored.closure
    surroundings.arguments = fields["arguments"]?.object ?? JSONObject()
    return PythonProgram(stored.code, surroundings)
  }

  static func reading(of fields: JSONObject, inputCount: Int) -> Result<PythonFormula, ModelError> {
    guard let program = program(in: fields, inputCount: inputCount) else {
      let hasCode =
        fields["function_type"]?.string == "lambda"
        || fields["function"]?["class_name"]?.string == "__lambda__"
      return .failure(
        ModelError(
          .unsupported,
          hasCode
            ? "its code is damaged, too large, or none of Python 2.7 to 3.14"
            : "its code is not in the file"))
    }
    do { return .success(try PythonFormula(program.code, program.surroundings)) } catch {
      return .failure(error as? ModelError ?? ModelError(.unsupported, "\(error)"))
    }
  }

  /// The instructions of a function that takes nothing but the layer's inputs, as each version of Python
  /// that may have written them has them; nil for another function.
  package static func instructions(
    in fields: JSONObject, inputCount: Int
  ) -> (code: PythonCode, readings: [[PythonOperation]])? {
    guard let program = program(in: fields, inputCount: inputCount) else { return nil }
    let given = program.surroundings
    guard given.defaults.isEmpty, given.closure.isEmpty, given.arguments.members.isEmpty,
      program.code.argumentCount == 1
    else { return nil }
    return (program.code, program.readings.map(\.operations))
  }

  private typealias Stored = (code: PythonCode, defaults: [JSONValue], closure: [JSONValue])

  private static func stored(_ json: JSONValue, depth: Int) -> Stored? {
    guard depth < 8 else { return nil }
    switch json {
    case .string(let text): return code(text).map { ($0, [], []) }
    case .array(let elements):
      guard let code = elements.first?.string.flatMap(code) else { return nil }
      return (code, values(elements, 1), values(elements, 2))
    case .object(let object):
      if let items = object["items"] { return stored(items, depth: depth + 1) }
      guard let config = object["config"] else { return nil }
      if let code = config["code"]?.string.flatMap(code) {
        return (code, list(config["defaults"]), list(config["closure"]))
      }
      return stored(config, depth: depth + 1)
    default: return nil
    }
  }

  private static func values(_ elements: [JSONValue], _ index: Int) -> [JSONValue] {
    index < elements.count ? list(elements[index]) : []
  }

  /// A list, which may stand as a tuple of Keras 2.13's.
  private static func list(_ json: JSONValue?) -> [JSONValue] {
    json?.array ?? json?["items"]?.array ?? []
  }

  private static func code(_ text: String) -> PythonCode? {
    if let bytes = Base64.decode(text.utf8), let code = PythonMarshal.function(bytes) {
      return code
    }
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
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
    return PythonMarshal.function(bytes)
  }
}
