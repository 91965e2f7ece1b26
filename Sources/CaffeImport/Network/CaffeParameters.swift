import TensorCore

/// The settings of a layer, such as its `convolution_param`, read field by field. A missing field
/// has the schema's default; a field that the schema lacks has the value `default`.
struct CaffeParameters: Sendable {
  /// The layer, for errors.
  let layer: LayerCall
  /// The path of the message in the layer, such as `prior_box_param`.
  let path: String
  let message: CaffeMessage

  func has(_ field: String) -> Bool { self[field] != nil }

  /// The field, if the message has it.
  private subscript(field: String) -> CaffeMessage.Field? {
    layer.usage.read(joined(field))
    return message[field]
  }

  /// - Throws: `.malformed` unless the value is an integer in `minimum...maximum`.
  func int(
    _ field: String, default standard: Int? = nil, atLeast minimum: Int = Int(Int32.min),
    atMost maximum: Int = Limits.dimension
  ) throws -> Int {
    let range =
      minimum == Int(Int32.min)
      ? "an integer"
      : maximum == Limits.dimension
        ? "an integer of at least \(minimum)" : "an integer from \(minimum) to \(maximum)"
    return try scalar(field, standard, range) { value in
      value.integer.flatMap { $0 >= minimum && $0 <= maximum ? $0 : nil }
    }
  }

  /// - Parameter kind: a description of the required value, for the error if `read` returns nil.
  private func scalar<Value>(
    _ field: String, _ standard: Value?, _ kind: String, _ read: (CaffeValue) -> Value?
  ) throws -> Value {
    let isThere = has(field)
    guard let value = message.value(field) else {
      if let standard { return standard }
      throw error(field, "required field is missing")
    }
    if !isThere, let standard { return standard }
    guard let result = read(value) else { throw error(field, "\(value.text) is not \(kind)") }
    return result
  }

  /// All values of a repeated field.
  func ints(_ field: String, atLeast minimum: Int = Int(Int32.min)) throws -> [Int] {
    try (self[field]?.values ?? []).map { value in
      guard let number = value.integer, number >= minimum, number <= Limits.dimension else {
        throw error(field, "\(value.text) is not an integer of at least \(minimum)")
      }
      return number
    }
  }

  /// The index of one of the tensor's axes; negative values count from the end.
  func axis(
    _ field: String = "axis", of tensor: CaffeTensor, default standard: Int? = nil
  ) throws -> Int {
    try tensor.axis(int(field, default: standard), joined(field), of: layer)
  }

  func double(_ field: String, default standard: Double? = nil) throws -> Double {
    let value = try scalar(field, standard, "a number", \.number)
    guard !value.isNaN else { throw error(field, "NaN is not a number") }
    return value
  }

  func float(_ field: String, default standard: Float? = nil) throws -> Float {
    Float(try double(field, default: standard.map(Double.init)))
  }

  func doubles(_ field: String) throws -> [Double] {
    try (self[field]?.values ?? []).flatMap { value in
      guard let numbers = value.numbers, !numbers.contains(where: \.isNaN) else {
        throw error(field, "\(value.text) is not a number")
      }
      return numbers
    }
  }

  func floats(_ field: String) throws -> [Float] { try doubles(field).map { Float($0) } }

  func bool(_ field: String, default standard: Bool? = nil) throws -> Bool {
    try scalar(field, standard, "true or false", \.bool)
  }

  func string(_ field: String, default standard: String? = nil) throws -> String {
    try scalar(field, standard, "a string", \.string)
  }

  /// The name of an enumeration's value, such as `MAX`.
  func symbol(_ field: String, default standard: String? = nil) throws -> String {
    try scalar(field, standard, "a name", \.symbol)
  }

  /// What the name of an enumeration's value stands for.
  ///
  /// - Throws: `.unsupported` for a name that `choices` lack.
  func choice<Value>(
    _ field: String, default standard: String? = nil, of choices: KeyValuePairs<String, Value>
  ) throws -> Value {
    let name = try symbol(field, default: standard)
    let names = choices.map(\.key).joined(separator: ", ")
    return try choices.first { $0.key == name }.map(\.value).orThrow(
      unsupported(field, "it is \(name), not one of \(names)"))
  }

  /// The message in a field; if missing, an empty message with all defaults.
  func message(_ field: String) -> CaffeParameters {
    layer.usage.read(joined(field))
    return CaffeParameters(
      layer: layer, path: joined(field), message: message.messageOrDefaults(field))
  }

  func messages(_ field: String) -> [CaffeParameters] {
    layer.usage.read(joined(field))
    return message.messages(field).enumerated().map {
      CaffeParameters(layer: layer, path: "\(joined(field))[\($0)]", message: $1)
    }
  }

  /// A size for height and width: one number in `field` for both, two numbers, or `NAME_h` and
  /// `NAME_w`, as in convolution, pooling and related layers.
  ///
  /// - Parameter name: the prefix of `_h` and `_w` if it differs from `field`, such as `kernel` for
  ///   `kernel_size`.
  func pair(
    _ field: String, _ name: String? = nil, default standard: Int? = nil, atLeast minimum: Int = 0
  ) throws -> [Int] {
    let name = name ?? field
    if has(name + "_h") || has(name + "_w") {
      // If only one of the two is set, the other has its default.
      return try [name + "_h", name + "_w"].map {
        has($0) ? try int($0, atLeast: minimum) : try int($0, default: standard, atLeast: minimum)
      }
    }
    let values = try ints(field, atLeast: minimum)
    switch values.count {
    case 0:
      guard let standard else { throw error(field, "required field is missing") }
      return [standard, standard]
    case 1: return [values[0], values[0]]
    case 2: return values
    default:
      throw error(
        field, "it has \(values.count) numbers; one or two are supported", code: .unsupported)
    }
  }

  func error(
    _ field: String, _ message: String, code: ModelError.Code = .malformed, hint: String? = nil
  ) -> ModelError {
    layer.error(message, code: code, field: joined(field), hint: hint ?? misspelling)
  }

  func require(
    _ condition: Bool, _ field: String, _ message: @autoclosure () throws -> String,
    hint: String? = nil
  ) throws {
    if !condition { throw error(field, try message(), hint: hint) }
  }

  /// A hint about a field that is probably misspelled.
  private var misspelling: String? {
    message.unknownFields.first.map { field in
      "Caffe's schema has no field '\(field.name)'"
        + (field.position.map { " (\($0))" } ?? "") + "; check the spelling"
    }
  }

  func unsupported(_ field: String, _ message: String, hint: String? = nil) -> ModelError {
    error(field, message, code: .unsupported, hint: hint)
  }

  private func joined(_ field: String) -> String { path.isEmpty ? field : "\(path).\(field)" }
}
