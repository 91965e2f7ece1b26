import ByteFormats
import CoreMLModel
import TensorCore

/// Fills in a custom layer by a rule: parameters from the layer's configuration, weights by name.
public struct CustomLayerBuilder {
  private let configuration: JSONObject
  private let weights: [(name: String, values: FloatValues)]

  /// - Parameter weights: the layer's own, in file order, by their short names.
  public init(configuration: JSONObject, weights: [(name: String, values: FloatValues)]) {
    self.configuration = configuration
    self.weights = weights
  }

  public func layer(_ rule: CustomLayerRule) throws -> Custom {
    var custom = Custom()
    custom.className = rule.className
    custom.classDescription = rule.description
    for (name, parameter) in rule.parameters {
      switch parameter {
      case .value(let value): custom.parameters[name] = value
      case .configuration(let field): custom.parameters[name] = try configured(field)
      }
    }
    custom.blobs = try rule.weights.map(weight)
    return custom
  }

  /// A layer named after its class, with every setting and every weight.
  public func layer(className: String, leavingOut ignored: Set<String>) -> Custom {
    var custom = Custom()
    custom.className = className
    for (name, value) in configuration.members where !ignored.contains(name) {
      if value.isNull { continue }
      custom.parameters[name] = Custom.Value(json: value) ?? .string(value.text)
    }
    custom.blobs = weights.map { Weights($0.values) }
    return custom
  }

  private func configured(_ field: String) throws -> Custom.Value {
    var value = JSONValue.object(configuration)
    for name in field.split(separator: ".") {
      guard let next = value[String(name)] else {
        let names = value.object?.names ?? []
        throw ModelError(
          .mismatch, "the rule names '$config.\(field)', which the layer's configuration has not",
          hint: names.isEmpty ? "it has no fields" : "it has " + names.joined(separator: ", "))
      }
      value = next
    }
    guard let parameter = Custom.Value(json: value) else {
      throw ModelError(
        .mismatch, "the rule names '$config.\(field)', which is \(value.text)",
        hint: "a parameter is a number, a string or a boolean")
    }
    return parameter
  }

  private func weight(_ weight: CustomLayerRule.Weight) throws -> Weights {
    switch weight {
    case .given(let values): return Weights(values)
    case .file(let path):
      return try inFile(path) {
        let array = try NumPyFile.parse(MappedFile.read(path))
        return Weights(FloatValues(array.tensor.elements))
      }
    case .named(let name):
      guard let own = weights.first(where: { $0.name == name }) else {
        throw ModelError(
          .mismatch, "the rule names the weight '\(name)', which the layer has not",
          hint: weights.isEmpty
            ? "it has no weights" : "it has " + weights.map(\.name).joined(separator: ", "))
      }
      return Weights(own.values)
    }
  }
}
