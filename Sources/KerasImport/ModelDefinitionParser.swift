import ByteFormats
import TensorCore

/// Reads model configurations.
struct ModelDefinitionParser {
  let version: KerasVersion
  /// Numbers unnamed Sequentials as Keras 1 does.
  private var sequentialCount = 0
  private var layerCount = 0

  init(version: KerasVersion) { self.version = version }

  mutating func model(_ json: JSONValue, name fallback: String? = nil) throws -> ModelDefinition {
    // The result of get_config() is only the configuration.
    let isBare = json["class_name"] == nil && (json["layers"] ?? json).array != nil
    let bareClass = json["input_layers"] == nil ? "Sequential" : "Functional"
    guard let className = isBare ? bareClass : json["class_name"]?.string,
      let config = isBare ? json : json["config"]
    else {
      throw ModelError(
        .malformed, "the model's configuration has no 'class_name' and 'config'",
        hint: "give an architecture as written by model.to_json()")
    }
    switch className {
    case "Sequential": return try sequential(config, name: fallback)
    case "Model", "Functional", "Container", "Network":
      return try functional(config, name: fallback)
    default:
      guard let subclassed = try subclassed(json, name: fallback) else {
        throw ModelDefinition.needsCode(className)
      }
      return subclassed
    }
  }

  /// A model that is a class of its own, from the shapes of its inputs.
  private mutating func subclassed(_ json: JSONValue, name: String?) throws -> ModelDefinition? {
    let declared = json["build_config"]?["input_shape"] ?? .null
    let shapes = ([declared] + (declared.array ?? [])).compactMap {
      ModelDefinition.Layer.shape($0)
    }
    guard !shapes.isEmpty, [1, declared.array?.count].contains(shapes.count) else { return nil }
    var definition = ModelDefinition(name: json["config"]?["name"]?.string ?? name ?? "model")
    definition.isSubclassed = true
    for (index, sizes) in shapes.enumerated() {
      var input = JSONObject()
      input["batch_shape"] = .array(
        [.null] + sizes.dropFirst().map { $0.map { .int($0) } ?? .null })
      definition.layers.append(
        ModelDefinition.Layer(
          name: shapes.count == 1 ? "input" : "input_\(index + 1)", className: "InputLayer",
          fields: input, calls: []))
      definition.inputs.append(.init(layer: index, call: 0, tensor: 0))
    }
    definition.layers.append(
      try layer(json, calls: [.init(definition.inputs)], nested: nil))
    definition.outputs = [.init(layer: shapes.count, call: 0, tensor: 0)]
    return definition
  }

  // MARK: Functional

  private mutating func functional(_ config: JSONValue, name: String?) throws -> ModelDefinition {
    let elements = try (config["layers"]?.array).orThrow(
      ModelError(
        .unsupported, "the model's configuration lists no layers",
        hint:
          "a subclassed model can be rebuilt only by its own code; save it as a functional model"))
    var indices: [String: Int] = [:]
    for (index, element) in elements.enumerated() {
      let name = try (element["name"]?.string ?? element["config"]?["name"]?.string).orThrow(
        ModelError(.malformed, "layer \(index + 1) has no name"))
      try require(indices.updateValue(index, forKey: name) == nil, "two layers are named '\(name)'")
    }
    var definition = ModelDefinition(name: config["name"]?.string ?? name ?? "model")
    var nested = [ModelDefinition?](repeating: nil, count: elements.count)
    var usesFirstCall = Set<Int>()
    let reader = ReferenceReader(indices: indices)
    let inbound = try elements.map { try reader.calls($0["inbound_nodes"] ?? .null) }
    let inputs = try reader.references(config["input_layers"] ?? .null)
    let outputs = try reader.references(config["output_layers"] ?? .null)
    for reference in inbound.joined().flatMap(\.inputs) + inputs + outputs
    where reference.call == 0 {
      usesFirstCall.insert(reference.layer)
    }
    for (index, element) in elements.enumerated() {
      let layerName = element["name"]?.string ?? element["config"]?["name"]?.string ?? ""
      nested[index] = try nestedModel(element, name: layerName)
    }
    // Keras counts the construction of a nested model as call 0, unless the other layers refer to
    // call 0. Keras 3 does so only for the outputs of the model, and not for a Sequential.
    let isKeras3 = elements.contains { $0["inbound_nodes"]?.array?.first?["args"] != nil }
    func adjusted(
      _ reference: ModelDefinition.Reference, isOutput: Bool
    ) throws -> ModelDefinition.Reference {
      var reference = reference
      let countsItself =
        isKeras3
        ? isOutput && reference.call > 0
          && elements[reference.layer]["class_name"]?.string != "Sequential"
        : !usesFirstCall.contains(reference.layer)
      if nested[reference.layer] != nil, countsItself { reference.call -= 1 }
      try require(
        reference.call < inbound[reference.layer].count || inbound[reference.layer].isEmpty,
        "it refers to call \(reference.call) of a layer that has \(inbound[reference.layer].count)")
      return reference
    }
    func adjusted(_ call: ModelDefinition.Call) throws -> ModelDefinition.Call {
      var call = call
      call.inputs = try call.inputs.map { try adjusted($0, isOutput: false) }
      return call
    }
    for (index, element) in elements.enumerated() {
      definition.layers.append(
        try layer(element, calls: try inbound[index].map(adjusted), nested: nested[index]))
    }
    definition.inputs = try inputs.map { try adjusted($0, isOutput: true) }
    definition.outputs = try outputs.map { try adjusted($0, isOutput: true) }
    definition.inputKeys = config["input_layers"]?.object?.names ?? []
    definition.outputKeys = config["output_layers"]?.object?.names ?? []
    try require(!definition.outputs.isEmpty, "the model '\(definition.name)' has no outputs")
    return definition
  }

  /// The model that a layer is, or that TimeDistributed applies to each step.
  private mutating func nestedModel(
    _ json: JSONValue, name: String? = nil
  ) throws -> ModelDefinition? {
    guard let className = json["class_name"]?.string else { return nil }
    if ModelDefinition.modelClasses.contains(className) { return try model(json, name: name) }
    guard className == ModelDefinition.stepwiseClass, let inner = json["config"]?["layer"],
      ModelDefinition.modelClasses.contains(inner["class_name"]?.string ?? "")
    else { return nil }
    return try model(inner).appliedStepwise()
  }

  private mutating func layer(
    _ json: JSONValue, calls: [ModelDefinition.Call], nested: ModelDefinition?
  ) throws -> ModelDefinition.Layer {
    layerCount += 1
    try require(layerCount <= Limits.layers, .limitExceeded, "more than \(Limits.layers) layers")
    let className = try (json["class_name"]?.string).orThrow(
      ModelError(.malformed, "a layer has no 'class_name'"))
    var fields = json["config"]?.object ?? JSONObject()
    let name = json["name"]?.string ?? fields["name"]?.string ?? nested?.name ?? className
    guard name.utf8.count <= Limits.nameBytes else {
      throw ModelError(.limitExceeded, "a layer's name has \(name.utf8.count) bytes")
    }
    // Keras has this layer since 2.11; before, the name without a package is keras-contrib's.
    let isForeign = json["registered_name"]?.string?.contains(">") == true
    if className == "GroupNormalization", !isForeign, !version.isAtLeast(2, 11) {
      fields["keras_contrib"] = .bool(true)
    }
    // Keras 3 also writes the shape outside the configuration.
    if fields["batch_shape"] == nil, let build = json["build_config"]?["input_shape"] {
      fields["build_input_shape"] = build
    }
    return ModelDefinition.Layer(
      name: name, className: className, fields: fields, calls: calls, nested: nested,
      isOperation: !isForeign && isOperation(json, className), isForeign: isForeign,
      isOfKeras: !isForeign && json["module"]?.string?.split(separator: ".").first == "keras")
  }

  /// Operations are called like Keras 3's layers, but cannot be trained. Neither can some layers,
  /// as `SpatialDropout1D`, whose names no operation has.
  private func isOperation(_ json: JSONValue, _ className: String) -> Bool {
    if let module = json["module"]?.string { return module.split(separator: ".").contains("ops") }
    let isLayer =
      (KerasLayerRegistry.type(named: className) != nil
        || UnconvertedClasses.reasons.contains { $0.names.contains(className) })
      && OperationTable.operation(named: className) == nil
    return !isLayer && className != "InputLayer" && json["config"]?["trainable"] == nil
      && json["inbound_nodes"]?.array?.first?["args"] != nil
      && !ModelDefinition.modelClasses.contains(className)
  }

  // MARK: Sequential

  private mutating func sequential(_ config: JSONValue, name: String?) throws -> ModelDefinition {
    guard let elements = config.array ?? config["layers"]?.array, !elements.isEmpty else {
      throw ModelError(.malformed, "a Sequential model lists no layers")
    }
    var definition = ModelDefinition(name: config["name"]?.string ?? name ?? "")
    var previous: [ModelDefinition.Reference] = []
    let fallback = config["batch_input_shape"] ?? config["build_input_shape"]
    for (index, element) in elements.enumerated() {
      let className = element["class_name"]?.string ?? ""
      if index == 0, className == "Merge", let branches = element["config"]?["layers"]?.array {
        for branch in branches { previous.append(try add(branch: branch, to: &definition)) }
      } else if index == 0, className != "InputLayer" {
        let nested = try nestedModel(element)
        let first = try layer(element, calls: [], nested: nested)
        let shape =
          first.declaredShape ?? nested?.inputShape ?? ModelDefinition.Layer.shape(fallback)
        previous = [definition.addInput(named: first.name + "_input", shape: shape)]
        previous = [
          definition.add(
            ModelDefinition.Layer(
              name: first.name, className: first.className, fields: first.fields,
              calls: [.init(previous)], nested: nested, isForeign: first.isForeign))
        ]
        continue
      }
      let nested = try nestedModel(element)
      let next = try layer(
        element, calls: previous.isEmpty ? [] : [.init(previous)], nested: nested)
      previous = [definition.add(next)]
      if next.isInput { definition.inputs.append(previous[0]) }
    }
    definition.outputs = previous
    sequentialCount += 1
    if definition.name.isEmpty { definition.name = "sequential_\(sequentialCount)" }
    return definition
  }

  /// A branch of Keras 1's Merge at the start of a Sequential: a model with separate inputs.
  private mutating func add(
    branch json: JSONValue, to definition: inout ModelDefinition
  ) throws -> ModelDefinition.Reference {
    let nested = try model(json)
    let arguments = nested.inputs.map { input in
      let inner = nested.layers[input.layer]
      return definition.addInput(named: "\(nested.name)_\(inner.name)", shape: inner.declaredShape)
    }
    return definition.add(
      ModelDefinition.Layer(
        name: nested.name, className: "Sequential", fields: JSONObject(),
        calls: [.init(arguments)], nested: nested))
  }
}

extension ModelDefinition {
  /// The model with each layer in its own TimeDistributed, and inputs with one more axis.
  func appliedStepwise() -> ModelDefinition {
    var model = self
    model.layers = layers.map { layer in
      var fields = JSONObject()
      fields["name"] = .string(layer.name)
      var className = layer.className
      if layer.isInput {
        let shape = [nil, nil] + (layer.declaredShape ?? [nil]).dropFirst()
        fields["batch_input_shape"] = .array(shape.map { $0.map { .int($0) } ?? .null })
      } else if layer.operation != nil {
        fields = layer.fields
        fields[TimeDistributed.isInModel] = .bool(true)
      } else if layer.nested == nil {
        var inner = JSONObject()
        inner["class_name"] = .string(className)
        inner["config"] = .object(layer.fields)
        fields["layer"] = .object(inner)
        fields[TimeDistributed.isInModel] = .bool(true)
        if let isTrainable = layer.fields["trainable"] { fields["trainable"] = isTrainable }
        className = Self.stepwiseClass
      }
      return Layer(
        name: layer.name, className: className, fields: fields, calls: layer.calls,
        nested: layer.nested?.appliedStepwise(), isOperation: layer.isOperation,
        innerClass: className == layer.className ? nil : layer.className,
        keepsMask: layer.operation != nil)
    }
    return model
  }

  fileprivate mutating func add(_ layer: Layer) -> Reference {
    layers.append(layer)
    return Reference(layer: layers.count - 1, call: 0, tensor: 0)
  }

  fileprivate mutating func addInput(named name: String, shape: [Int?]?) -> Reference {
    var fields = JSONObject()
    if let shape {
      fields["batch_input_shape"] = .array(shape.map { $0.map { .int($0) } ?? .null })
    }
    let reference = add(Layer(name: name, className: "InputLayer", fields: fields, calls: []))
    inputs.append(reference)
    return reference
  }
}
