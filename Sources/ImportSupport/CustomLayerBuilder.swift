import ByteFormats
import CoreMLModel
import Files
import Formulas
import TensorCore

/// Fills in a custom layer from a rule: parameters from the layer's configuration, weights by name.
package struct CustomLayerBuilder {
  private let configuration: JSONObject
  private let weights: [(name: String, values: FloatValues)]

  /// - Parameter weights: the layer's weights, in file order, with their short names.
  package init(configuration: JSONObject, weights: [(name: String, values: FloatValues)]) {
    self.configuration = configuration
    self.weights = weights
  }

  package func layer(_ rule: CustomLayerRule) throws -> Custom {
    var custom = Custom(className: rule.className)
    custom.classDescription = rule.description
    for (name, parameter) in rule.parameters { custom.parameters[name] = try value(parameter) }
    custom.blobs = try rule.weights.map { Weights(try values($0)) }
    return custom
  }

  /// The rule's formula, if it has one, for a layer with `inputCount` inputs.
  package func formula(_ rule: CustomLayerRule, inputCount: Int) throws -> LayerFormula? {
    guard var formula = rule.formula else { return nil }
    if formula.inputs.isEmpty { formula.inputs = LayerFormula.inputNames(inputCount) }
    try require(
      formula.inputs.count == inputCount, .mismatch,
      "the rule names \(counted(formula.inputs.count, "input")), but the layer has \(inputCount)")
    let names = Set(formula.inputs + rule.parameters.map(\.name) + rule.weightNames)
    if let unknown = formula.expression.names.subtracting(names).min() {
      throw ModelError(
        .mismatch, "the formula \(formula.expression): unknown name '\(unknown)'",
        hint: "known names are " + names.sorted().joined(separator: ", "))
    }
    for (name, parameter) in rule.parameters {
      switch try value(parameter) {
      case .double(let number): formula.parameters[name] = number
      case .int(let number): formula.parameters[name] = Double(number)
      case .long(let number): formula.parameters[name] = Double(number)
      case .bool(let flag): formula.parameters[name] = flag ? 1 : 0
      case .string:
        guard formula.form == .custom || !formula.expression.names.contains(name) else {
          throw ModelError(.mismatch, "the formula needs a number, but '\(name)' is text")
        }
      }
    }
    for (index, weight) in rule.weights.enumerated() {
      let values = try self.values(weight)
      _ = try checkedProduct(values.shape, limit: LayerFormula.weightLimit)
      var array = try FormulaArray(values.shape, values.array().map { Double($0) })
      if let shape = rule.weightShapes[index] {
        try require(
          checkedProduct(shape) == array.elements.count, .mismatch,
          "the rule gives '\(rule.weightNames[index])' the shape \(shape), but it has "
            + "\(array.elements.count) values")
        array = array.shaped(shape)
      }
      formula.weights.append((rule.weightNames[index], array))
    }
    return formula
  }

  /// The custom layer for a rule. Without a rule, it is named after the layer's class and keeps all
  /// weights and all settings except `ignored`.
  package func layer(
    _ rule: CustomLayerRule?, className: String, leavingOut ignored: Set<String>
  ) throws -> Custom {
    if let rule { return try layer(rule) }
    var custom = Custom(className: className)
    for (name, value) in configuration.members where !ignored.contains(name) {
      if value.isNull { continue }
      custom.parameters[name] = Custom.Value(json: value) ?? .string(value.text)
    }
    custom.blobs = weights.map { Weights($0.values) }
    return custom
  }

  private func value(_ parameter: CustomLayerRule.Parameter) throws -> Custom.Value {
    switch parameter {
    case .value(let value): value
    case .configuration(let field): try configured(field)
    }
  }

  private func configured(_ field: String) throws -> Custom.Value {
    var value = JSONValue.object(configuration)
    for name in field.split(separator: ".") {
      guard let next = value[String(name)] else {
        let names = value.object?.names ?? []
        throw ModelError(
          .mismatch, "the rule names '$config.\(field)', but the layer's configuration lacks it",
          hint: names.isEmpty
            ? "the configuration is empty" : "it has " + names.joined(separator: ", "))
      }
      value = next
    }
    let parameter = try Custom.Value(json: value).orThrow(
      ModelError(
        .mismatch, "the rule names '$config.\(field)', which is \(value.text)",
        hint: "a parameter is a number, a string or a boolean"))
    return parameter
  }

  private func values(_ weight: CustomLayerRule.Weight) throws -> FloatValues {
    switch weight {
    case .given(let values): return values
    case .file(let path):
      return try inFile(path) {
        let tensor = try NumPyFile.parse(MappedFile.read(path)).tensor
        return FloatValues(tensor.elements).shaped(tensor.shape)
      }
    case .named(let name):
      let own = try weights.first(where: { $0.name == name }).orThrow(
        ModelError(
          .mismatch, "the rule names the weight '\(name)', but the layer has no such weight",
          hint: weights.isEmpty
            ? "it has no weights" : "it has " + weights.map(\.name).joined(separator: ", ")))
      return own.values
    }
  }
}

extension LayerWriting {
  /// Adds the layers of the rule for an activation function, and returns the output blob; nil if no
  /// rule matches.
  package mutating func applyRule(
    _ rules: CustomLayerRules, _ subject: CustomLayerSubject, to blob: String,
    _ placement: Placement
  ) throws -> String? {
    guard let rule = rules.rule(for: subject) else { return nil }
    let builder = CustomLayerBuilder(configuration: JSONObject(), weights: [])
    guard let formula = try builder.formula(rule, inputCount: 1) else {
      return add(subject.layer, try builder.layer(rule), [blob])
    }
    let made = try add(formula, name: subject.layer, [(blob, placement)])
    try require(made.placement == placement, .unsupported, "an activation cannot change the shape")
    return made.blob
  }

  /// The output shapes that a custom layer's class returns, if it is registered and all input sizes
  /// are known. Adds a note if the class rejects the shapes.
  package mutating func outputShapes(
    of custom: Custom, _ inputs: [[Int]?], _ shapes: CustomLayerShapes, for name: String
  ) -> [[Int]]? {
    let sizes = inputs.compactMap { $0 }
    guard sizes.count == inputs.count else { return nil }
    do { return try shapes(custom, sizes) } catch {
      notes.append("the built-in class \(custom.className) rejects '\(name)': \(error)")
      return nil
    }
  }
}

extension Custom {
  package init(className: String) {
    self.init()
    self.className = className
  }
}
