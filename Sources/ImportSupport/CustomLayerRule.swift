import ByteFormats
import CoreMLModel
import Formulas
import TensorCore

/// A rule in a file of custom-layer rules.
package struct CustomLayerRule: Sendable {
  package enum Parameter: Sendable, Equatable {
    case value(Custom.Value)
    /// A field of the layer's configuration; periods separate nested field names.
    case configuration(field: String)
  }

  package enum Weight: Sendable, Equatable {
    /// A weight of the layer.
    case named(String)
    case given(FloatValues)
    /// An `.npy` file.
    case file(String)
  }

  package var layerClass: String?
  /// A pattern for the layer's name; `*` matches any characters.
  package var name: String?
  package var function: String?
  package var activation: String?
  package var className: String
  package var description = ""
  package var parameters: [(name: String, value: Parameter)] = []
  package var weights: [Weight] = []
  /// The names of the weights in a formula, one per weight.
  package var weightNames: [String] = []
  /// The shapes of the weights in a formula; nil keeps the stored shape.
  package var weightShapes: [[Int]?] = []
  /// The computation of the layer, if the rule defines it.
  package var formula: LayerFormula?

  private static let fields = [
    "class", "name", "function", "activation", "className", "description", "parameters", "weights",
    "expression", "inputs", "as",
  ]

  init(_ json: JSONValue, folder: String) throws {
    guard let object = json.object else { throw ModelError(.malformed, "not a JSON object") }
    for field in object.names where !Self.fields.contains(field) {
      throw ModelError(
        .malformed, "unknown field '\(field)'",
        hint: "a rule can have " + Self.fields.joined(separator: ", "))
    }
    func text(_ field: String) throws -> String? {
      guard let value = object[field], !value.isNull else { return nil }
      let string = try value.string.orThrow(ModelError(.malformed, "'\(field)' is not a string"))
      return string
    }
    layerClass = try text("class")
    name = try text("name")
    function = try text("function")
    activation = try text("activation")
    try require(
      layerClass != nil || name != nil || function != nil || activation != nil,
      "the rule matches nothing", hint: "add 'class', 'name', 'function' or 'activation'")
    let className = try text("className") ?? ""
    let expression = try text("expression")
    try require(
      !className.isEmpty || expression != nil, "'className' is empty",
      hint: "give the name of the Swift class that implements the layer")
    self.className = className.isEmpty ? LayerFormula.className : className
    description = try text("description") ?? ""
    parameters = try Self.parameters(object["parameters"] ?? .null)
    let elements = object["weights"] ?? .null
    weights = try Self.weights(elements, folder: folder)
    try nameWeights(elements)
    if let expression {
      try setFormula(expression, object)
    } else if let field = ["inputs", "as"].first(where: { object[$0] != nil }) {
      throw ModelError(.malformed, "'\(field)' needs an 'expression'")
    }
  }

  private mutating func nameWeights(_ json: JSONValue) throws {
    for (index, element) in (json.array ?? []).enumerated() {
      weightNames.append(element.string ?? element["name"]?.string ?? "w\(index)")
      var shape: [Int]?
      if let given = element["shape"] {
        let sizes = given.array?.compactMap(\.int) ?? []
        try require(
          !sizes.isEmpty && sizes.count == given.array?.count && sizes.allSatisfy({ $0 > 0 }),
          "the shape \(given.text) of a weight is invalid", field: "weights")
        shape = sizes
      }
      weightShapes.append(shape)
    }
  }

  private mutating func setFormula(_ expression: String, _ object: JSONObject) throws {
    var names: [String]?
    if let json = object["inputs"], !json.isNull {
      names = json.array?.compactMap(\.string)
      guard let names, !names.isEmpty, names.count == json.array?.count else {
        throw ModelError(.malformed, "'inputs' is not a list of names")
      }
    }
    let known = parameters.map(\.name) + weightNames
    for name in known + (names ?? []) {
      try require(
        name.first?.isNumber == false
          && name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }),
        "'\(name)' is not a valid name in a formula",
        hint:
          #"rename a weight with {"name": "w", "weight": \#(JSONValue.string(name).text)}"#)
    }
    guard Set(known + (names ?? [])).count == known.count + (names?.count ?? 0) else {
      throw ModelError(.malformed, "two inputs, parameters or weights have the same name")
    }
    let parsed: Expression
    do {
      // The number of inputs is known only for a specific layer.
      parsed = try Expression(parsing: expression, names: names.map { Set(known + $0) })
    } catch var error as ModelError {
      error.field = "expression"
      throw error
    }
    var formula = LayerFormula(parsed, inputs: names ?? [])
    if let json = object["as"], !json.isNull {
      let form = try json.string.flatMap(LayerFormula.Form.init).orThrow(
        ModelError(
          .malformed, "'as' is \(json.text)",
          hint: "it must be one of "
            + LayerFormula.Form.allCases.map(\.rawValue).joined(separator: ", ")))
      formula.form = form
    }
    formula.className = className
    formula.classDescription = description
    self.formula = formula
  }

  func matches(_ subject: CustomLayerSubject) -> Bool {
    if let activation {
      guard subject.activation == activation else { return false }
    } else if subject.activation != nil {
      // A rule for a layer applies to its activation functions only if it names them.
      guard let name, name.hasSuffix("__activation__") else { return false }
    }
    if let layerClass, layerClass != subject.layerClass { return false }
    if let name, !NamePattern(name).matches(subject.layer) { return false }
    if let function, function != subject.function { return false }
    return true
  }
}

extension CustomLayerRule {
  private static func parameters(_ json: JSONValue) throws -> [(name: String, value: Parameter)] {
    if json.isNull { return [] }
    let object = try json.object.orThrow(ModelError(.malformed, "'parameters' is not an object"))
    return try object.members.map { ($0.name, try parameter($0.value, name: $0.name)) }
  }

  private static func parameter(_ json: JSONValue, name: String) throws -> Parameter {
    let prefix = "$config."
    switch json {
    case .string(let text) where text.hasPrefix(prefix):
      return .configuration(field: String(text.dropFirst(prefix.count)))
    case .object(let object):
      guard object.members.count == 1, let (type, value) = object.members.first,
        let typed = Custom.Value(json: value, type: type)
      else {
        throw ModelError(
          .malformed, "parameter '\(name)': \(json.text) is not a value of its type",
          hint:
            #"write {"int": 100}, {"long": 100}, {"double": 1}, {"string": "a"} or {"bool": true}"#)
      }
      return .value(typed)
    default:
      let value = try Custom.Value(json: json).orThrow(
        ModelError(
          .malformed, "parameter '\(name)': \(json.text) is not a number, string or boolean"))
      return .value(value)
    }
  }

  private static func weights(_ json: JSONValue, folder: String) throws -> [Weight] {
    if json.isNull { return [] }
    let elements = try json.array.orThrow(ModelError(.malformed, "'weights' is not an array"))
    return try elements.map { element in
      if let name = element.string ?? element["weight"]?.string { return .named(name) }
      if let values = element["values"]?.array {
        let numbers = values.compactMap(\.double)
        try require(numbers.count == values.count, "a weight's 'values' are not all numbers")
        return .given(FloatValues(numbers.map { Float($0) }))
      }
      if let file = element["file"]?.string {
        return .file(file.hasPrefix("/") ? file : folder + "/" + file)
      }
      throw ModelError(
        .malformed, "\(element.text) does not name a weight",
        hint: #"write the name of one, {"weight": "kernel"}, {"values": […]} or {"file": "w.npy"}"#)
    }
  }
}

extension Custom.Value {
  /// A number with a decimal point or exponent is a double; any other is an int, or a long if it
  /// needs more than 32 bits.
  package init?(json: JSONValue) {
    switch json {
    case .bool(let value): self = .bool(value)
    case .string(let value): self = .string(value)
    case .int(let value): self = Int32(exactly: value).map { .int($0) } ?? .long(Int64(value))
    case .double(let value): self = .double(value)
    case .null, .array, .object: return nil
    }
  }

  init?(json: JSONValue, type: String) {
    switch type {
    case "int":
      guard let value = json.int.flatMap({ Int32(exactly: $0) }) else { return nil }
      self = .int(value)
    case "long":
      guard let value = json.int else { return nil }
      self = .long(Int64(value))
    case "double":
      guard let value = json.double else { return nil }
      self = .double(value)
    case "string":
      guard let value = json.string else { return nil }
      self = .string(value)
    case "bool":
      guard let value = json.bool else { return nil }
      self = .bool(value)
    default: return nil
    }
  }
}
