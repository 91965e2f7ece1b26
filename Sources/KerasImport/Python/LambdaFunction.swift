import ByteFormats
import TensorCore

/// The Python function of a Lambda layer.
enum LambdaFunction {
  /// The name in a Lambda's configuration; nil if the code cannot be read.
  static func name(in fields: JSONObject) -> String? {
    fullName(in: fields).map { $0 == "<lambda>" ? $0 : ActivationFunction.plainName($0) }
  }

  /// The name, with its package if that is not Keras.
  static func fullName(in fields: JSONObject) -> String? {
    guard let function = fields["function"] else { return nil }
    if fields["function_type"]?.string == "function", let name = function.string { return name }
    return name(function, depth: 0)
  }

  private static func name(_ json: JSONValue, depth: Int) -> String? {
    if let stored = StoredFunction(json, depth: depth) { return stored.code.name }
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

  /// The function of a Lambda with `inputCount` inputs; nil if the file lacks its code.
  static func program(in fields: JSONObject, inputCount: Int) -> PythonProgram? {
    guard fields["function_type"]?.string != "function", let function = fields["function"],
      let stored = StoredFunction(function)
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
}
