import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore

/// The value of an `activation` field.
enum ActivationFunction: Sendable, Equatable {
  case linear
  /// A function; one that is not Keras's has its package in the name: `Mine>swish`.
  case named(String)
  /// A layer used as an activation function.
  case layer(className: String, fields: JSONObject)
  /// A function whose code is in the file, as the fields of a Lambda.
  case code(JSONObject)

  init(_ configuration: LayerConfiguration, _ field: String = "activation") throws {
    guard let (_, value) = configuration.field(field) else {
      self = .linear
      return
    }
    if let name = value.string ?? value["config"]?.string {
      let plain = StoredIdentity.package(name) == nil ? Self.plainName(name) : name
      self = plain == "linear" ? .linear : .named(plain)
      return
    }
    if let lambda = ModelDefinition.Layer.lambda(configuration.fields, field) {
      self = .code(lambda)
      return
    }
    let className = try (value["class_name"]?.string).orThrow(
      configuration.unsupported(
        field, "its Python function cannot be read",
        hint: "save the model with the name of a function of Keras in this field"))
    if className == "function" || className == "Function" {
      throw configuration.bad(field, value, "the name of an activation function")
    } else {
      self = .layer(className: className, fields: value["config"]?.object ?? JSONObject())
    }
  }

  /// The `function` in Keras's `module>function` or `module.function`.
  static func plainName(_ name: String) -> String {
    guard let cut = name.lastIndex(where: { $0 == ">" || $0 == "." }) else { return name }
    return String(name[name.index(after: cut)...])
  }
}

extension KerasWriter {
  /// Adds the layer `NAME__activation__` for the activation that a layer applies to its result.
  mutating func activate(
    _ function: ActivationFunction, _ tensor: KerasTensor, _ call: LayerCall
  ) throws -> KerasTensor {
    if function == .linear { return tensor }
    let name = call.name + "__activation__"
    visit(name, "Activation")
    return try apply(function, tensor, name: name, call)
  }

  /// Adds the layers of a function. `name` becomes the name of the last layer, or of the first one
  /// if Core ML's converters use it there.
  mutating func apply(
    _ function: ActivationFunction, _ tensor: KerasTensor, name: String, _ call: LayerCall
  ) throws -> KerasTensor {
    var result = tensor
    switch function {
    case .linear:
      result.blob = add(name, Activation(.linear(alpha: 1, beta: 0)), [tensor.blob])
    case .layer(let className, let fields):
      return try applyLayer(className, fields, tensor, name: name, call)
    case .code(let fields): return try applyCode(fields, tensor, name: name, call)
    case .named(let stored):
      let package = StoredIdentity.package(stored)
      let plain = StoredIdentity.plainName(stored)
      let isKeras = KerasActivation(plain, version: version) != nil
      let subject = CustomLayerSubject(
        layer: name, layerClass: call.className, activation: isKeras ? stored : plain)
      if let blob = try applyRule(rules, subject, to: tensor.blob, tensor.placement) {
        result.blob = blob
      } else if package == nil
        || plain == "gelu_approximate" && ["keras_hub", "keras_nlp"].contains(package ?? ""),
        let formula = KerasActivation(plain, version: version)
      {
        if case .sparsemax = formula,
          tensor.isShapeAssumed || !(1...2048).contains(tensor.channels ?? 0)
        {
          throw call.unsupported(
            "sparsemax along the last axis of \(tensor.shapeText) is not supported")
        }
        return formula.add(to: &self, tensor, name: name)
      } else if package.map(KerasActivation.packages.contains) ?? true,
        let formula = ActivationFormula.named(plain, in: .customary), !rules.allowsAll
      {
        notes.append(
          "layer '\(call.name)' (\(call.className)): activation '\(stored)' is assumed to be the usual "
            + "function of this name, which \(version.description) does not define")
        return KerasActivation.common(formula).add(to: &self, tensor, name: name)
      } else if rules.allowsAll {
        result.blob = add(name, Custom(className: plain), [tensor.blob])
      } else {
        throw call.unsupported(
          package == nil
            ? "activation '\(plain)' is not defined by \(version.description), or Core ML's "
              + "layers cannot express it"
            : "activation '\(stored)' is a function of its author's, whose code is not in the file",
          hint:
            "make it a custom layer with a rule: \(setting: "customLayers") with \(subject.suggestedRule)"
        )
      }
    }
    return result
  }

  private mutating func applyLayer(
    _ className: String, _ fields: JSONObject, _ tensor: KerasTensor, name: String,
    _ call: LayerCall
  ) throws -> KerasTensor {
    let configuration = LayerConfiguration(
      name: name, className: className, fields: fields, version: version)
    let type = try version.layerType(className).orThrow(
      call.unsupported("activation '\(className)' is not supported"))
    let layer = try configuration.layer(type)
    let weights = layer.weights.isEmpty ? [] : call.weights(under: "activation")
    try call.require(
      layer.weights.count == weights.count,
      unsupported: "activation '\(className)' has weights, which is not supported")
    let inner = LayerCall(
      name: name, className: className, inputs: [tensor], version: version, weights: weights,
      preferredImage: call.preferredImage, weightsPath: call.weightsPath,
      missingWeights: call.missingWeights)
    let outputs = try layer.convert(inner, &self)
    try call.require(outputs.count == 1, unsupported: "activation '\(className)' is not supported")
    return outputs[0]
  }
}
