import Formulas
import TensorCore

/// The functions of Keras, TensorFlow and numpy that formulas are made of.
enum PythonLibraries {
  /// What names of modules stand for where a function's code does not import them itself.
  private static let globals: [String: String] = [
    "K": "keras.backend", "backend": "keras.backend", "keras": "keras", "tf": "tf",
    "tensorflow": "tf", "np": "np", "numpy": "np", "math": "math", "ops": "keras.ops",
    "nn": "tf.nn", "activations": "keras.activations", "abs": "python.abs", "pow": "python.pow",
    "float": "python.float",
  ]

  /// Constants that Python 2 looks up by their names.
  static let classicConstants: [String: PythonSymbol] = [
    "True": .bool(true), "False": .bool(false),
  ]

  static func global(_ name: String) -> String? { globals[name] }

  /// `keras.backend` for `tensorflow.python.keras.backend`, `tf.nn` for `tensorflow.compat.v1.nn`.
  static func path(_ text: String) -> String {
    var path = text
    for (from, to) in [
      ("tensorflow", "tf"), ("numpy", "np"), ("tf.compat.v1", "tf"), ("tf.compat.v2", "tf"),
      ("tf.python.keras", "keras"), ("tf._keras", "keras"), ("tf.keras", "keras"),
    ] where path == from || path.hasPrefix(from + ".") {
      path = to + path.dropFirst(from.count)
    }
    return path
  }

  static func constant(_ path: String) -> PythonSymbol? {
    switch path {
    case "np.pi", "math.pi": .double(.pi)
    case "np.e", "math.e": .double(2.718281828459045)
    case "np.newaxis", "tf.newaxis": PythonSymbol.none
    case "tf.float32", "np.float32", "tf.float16", "tf.float64", "np.float64", "tf.bool",
      "tf.int32", "tf.int64", "np.int32", "np.int64":
      .string(String(path.dropFirst(3)))
    default: nil
    }
  }

  private static let libraries: Set<String> = [
    "keras.backend", "keras.ops", "keras.activations", "tf", "tf.nn", "tf.math", "np", "math",
    "python", "keras.ops.nn", "keras.ops.numpy",
  ]

  /// Names that mean another function in the language of formulas.
  private static let others: [String: String] = [
    "max": "reduce_max", "min": "reduce_min", "neg": "negative", "mul": "multiply",
    "sub": "subtract", "div": "divide", "exponential": "exp", "linear": "identity",
    "constant": "identity", "array": "identity", "asarray": "identity", "float32": "identity",
    "float": "identity",
  ]

  /// What calling a function gives.
  static func call(
    _ path: String, _ positional: [PythonSymbol], _ keywords: [(name: String, value: PythonSymbol)]
  ) throws -> PythonSymbol {
    guard let cut = path.lastIndex(of: "."), libraries.contains(String(path[..<cut])) else {
      throw refusal(path)
    }
    let library = String(path[..<cut])
    let function = String(path[path.index(after: cut)...])
    switch path {
    case "keras.backend.epsilon", "keras.config.epsilon": return .double(1e-7)
    case "keras.backend.floatx", "keras.config.floatx": return .string("float32")
    case "tf.shape", "keras.backend.shape", "keras.backend.int_shape": throw refusal(path)
    default: break
    }
    let name = others[function] ?? function
    guard FunctionCatalog.names.contains(name) else { throw refusal(path) }
    var arguments = try positional.map { try $0.argument() }
    let named = try keywords.filter { $0.name != "name" }.map { ($0.name, try $0.value.argument()) }
    // Variants of one name.
    switch (library, name) {
    case ("keras.ops", "gelu") where arguments.count < 2 && named.isEmpty:
      arguments.append(.flag(true))
    case ("keras.ops", "hard_sigmoid"):
      guard case .expression(let x)? = arguments.first, arguments.count == 1 else {
        throw refusal(path)
      }
      return .expression(
        try .apply(
          .clip, .apply(.add, .apply(.divide, x, .number(6)), .number(0.5)), .number(0),
          .number(1)))
    case ("keras.activations", "hard_sigmoid"), ("np", "round"), ("math", "round"):
      throw refusal(path)
    // What is below 0 counts as 0.
    case ("keras.backend", "sqrt"):
      return .expression(
        try .apply(.sqrt, .apply(.relu, FunctionCatalog.call("identity", arguments, named))))
    default: break
    }
    let result = try FunctionCatalog.call(name, arguments, named)
    return result.number.map { .double($0) } ?? .expression(result)
  }

  private static func refusal(_ path: String) -> ModelError {
    ModelError(.unsupported, "it calls \(path)")
  }
}
