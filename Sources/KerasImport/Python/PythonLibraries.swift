import Formulas
import TensorCore

/// The functions of Keras, TensorFlow and NumPy that formulas support.
enum PythonLibraries {
  /// The modules that global names refer to if the function's code does not import them itself.
  private static let globals: [String: String] = [
    "K": "keras.backend", "backend": "keras.backend", "keras": "keras", "tf": "tf",
    "tensorflow": "tf", "np": "np", "numpy": "np", "math": "math", "ops": "keras.ops",
    "nn": "tf.nn", "activations": "keras.activations", "KTF": "keras.backend",
    "keras_backend": "keras.backend", "image": "image",
  ]

  /// Python's built-in functions and types.
  private static let builtIns: Set<String> = [
    "abs", "all", "any", "bool", "callable", "dict", "enumerate", "float", "format", "getattr",
    "hasattr", "int", "isinstance", "len", "list", "map", "max", "min", "object", "pow", "print",
    "range", "reversed", "round", "set", "setattr", "slice", "sorted", "str", "sum", "super",
    "tuple",
    "xrange",
    "zip",
  ]

  static func global(_ name: String) -> String? {
    let isApplication =
      name == "imagenet_utils" || PythonMachine.applications.contains { $0.networks.contains(name) }
    return globals[name]
      ?? (isApplication
        ? "keras.applications." + name : builtIns.contains(name) ? "python." + name : nil)
  }

  /// The normalized path: `keras.backend` for `tensorflow.python.keras.backend`, `tf.nn` for
  /// `tensorflow.compat.v1.nn`. TensorFlow 1's image functions keep a separate path.
  static func path(_ text: String) -> String {
    var path = text
    for (from, to) in [
      ("tensorflow", "tf"), ("numpy", "np"), ("tf.compat.v1.image", "tf.image1"),
      ("tf.compat.v1.", "tf."), ("tf.compat.v2", "tf"),
      ("tf.python.keras", "keras"), ("tf_keras", "keras"), ("keras_core", "keras"),
      ("tf._keras", "keras"), ("tf.keras", "keras"),
      ("keras.backend.tensorflow_backend", "keras.backend"),
      ("keras.backend.tf", "tf"), ("tf.dtypes.", "tf."),
    ] where path == from || path.hasPrefix(from + (from.hasSuffix(".") ? "" : ".")) {
      path = to + path.dropFirst(from.count)
    }
    return path
  }

  static func constant(_ path: String) -> PythonSymbol? {
    switch path {
    case "np.pi", "math.pi": .double(.pi)
    case "np.e", "math.e": .double(2.718281828459045)
    case "np.newaxis", "tf.newaxis": PythonSymbol.none
    case "keras.__name__": .string("keras")
    case "tf.float32", "np.float32", "tf.float16", "tf.float64", "np.float64", "tf.bool",
      "tf.int32", "tf.int64", "np.int32", "np.int64":
      .string(String(path.dropFirst(3)))
    case "tf.image.ResizeMethod.BILINEAR": .string("bilinear")
    case "tf.image.ResizeMethod.NEAREST_NEIGHBOR": .string("nearest")
    case "tf.image.ResizeMethod.BICUBIC": .string("bicubic")
    case "tf.image.ResizeMethod.AREA": .string("area")
    default: nil
    }
  }

  private static let libraries: Set<String> = [
    "keras.backend", "keras.ops", "keras.activations", "tf", "tf.nn", "tf.math", "np", "math",
    "python", "keras.ops.nn", "keras.ops.numpy",
  ]

  /// Functions whose names in formulas are different.
  private static let others: [String: String] = [
    "max": "reduce_max", "min": "reduce_min", "neg": "negative", "mul": "multiply",
    "sub": "subtract", "div": "divide", "exponential": "exp", "linear": "identity",
    "constant": "identity", "array": "identity", "asarray": "identity", "float32": "identity",
    "float": "identity", "cast_to_floatx": "identity", "scalar_mul": "multiply",
  ]

  /// The result of calling a function.
  static func call(
    _ path: String, _ positional: [PythonSymbol], _ keywords: [(name: String, value: PythonSymbol)]
  ) throws -> PythonSymbol {
    guard let cut = path.lastIndex(of: "."), libraries.contains(String(path[..<cut])) else {
      throw refusal(path)
    }
    let library = String(path[..<cut])
    let function = String(path[path.index(after: cut)...])
    let name = others[function] ?? function
    guard FunctionCatalog.names.contains(name) || name == "divide_no_nan" else {
      throw refusal(path)
    }
    if ["min", "max", "sum"].contains(function), library == "python" { throw refusal(path) }
    var arguments = try positional.map { try $0.argument() }
    let named = try keywords.filter { $0.name != "name" }.map { ($0.name, try $0.value.argument()) }
    // Functions of the same name that differ between libraries.
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
    case ("tf.math", "divide_no_nan"), ("keras.ops", "divide_no_nan"):
      guard case .expression(let x)? = arguments.first, case .expression(let y)? = arguments.last,
        arguments.count == 2
      else { throw refusal(path) }
      let isZero = try Expression.apply(.equal, y, .number(0))
      return .expression(
        try .apply(
          .choose, isZero, .number(0), .apply(.divide, x, .apply(.choose, isZero, .number(1), y))))
    // Negative values are clamped to 0.
    case ("keras.backend", "sqrt"):
      return .expression(
        try .apply(.sqrt, .apply(.relu, FunctionCatalog.call("identity", arguments, named))))
    default: break
    }
    let result = try FunctionCatalog.call(name, arguments, named)
    return result.number.map { .double($0) } ?? .expression(result)
  }

  static func refusal(_ path: String) -> ModelError {
    ModelError(
      .unsupported, "it calls \(path)",
      hint: path.contains("random_normal")
        ? #"a rule with "expression": "x0" in place of the class takes the first input, the mean"#
        : nil)
  }
}
