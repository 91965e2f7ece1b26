import ByteFormats
import TensorCore

/// Inputs and models in a function that builds a network.
extension PythonMachine {
  /// Functions that create inputs and models; nil for other functions.
  func model(
    _ path: String, _ positional: [PythonSymbol], _ keywords: Keywords
  ) throws -> PythonSymbol? {
    guard let layers, layers.graph != nil, path.hasPrefix("keras.") else { return nil }
    func value(_ index: Int, _ names: String...) -> PythonSymbol? {
      keywords.first { names.contains($0.name) && !$0.value.isNone }?.value
        ?? (index < positional.count ? positional[index] : nil)
    }
    switch path.split(separator: ".").last {
    case "Input":
      var sizes = try value(0, "shape", "batch_shape", "input_shape", "batch_input_shape").map {
        try $0.int.map { [.int($0)] } ?? elements($0)
      }
      if !keywords.contains(where: { $0.name.hasPrefix("batch_") && $0.name.hasSuffix("shape") }) {
        sizes?.insert(value(1, "batch_size") ?? .none, at: 0)
      }
      let shape = sizes.map { JSONValue.array($0.map { $0.int.map { .int($0) } ?? .null }) }
      guard value(9, "tensor") == nil, let shape, ModelDefinition.Layer.shape(shape) != nil else {
        throw Self.unsupported("it makes an Input of unknown shape")
      }
      return try input(shape, name: value(9, "name")?.string, type: value(9, "dtype")?.string)
    case "Model", "Functional":
      let object = try layers.object(nil)
      guard try connect(object, positional, keywords) else {
        throw Self.unsupported("it makes a Model without inputs and outputs")
      }
      return .object(object)
    default: return nil
    }
  }

  /// Makes an object a functional model; returns false if inputs or outputs are missing.
  func connect(
    _ object: PythonObject, _ positional: [PythonSymbol], _ keywords: Keywords
  ) throws -> Bool {
    func value(_ index: Int, _ names: String...) -> PythonSymbol? {
      keywords.first { names.contains($0.name) }?.value
        ?? (index < positional.count ? positional[index] : nil)
    }
    guard let inputs = value(0, "inputs", "input"), let outputs = value(1, "outputs", "output")
    else { return false }
    object.layerClass = "Model"
    object["name"] = value(2, "name")
    name(object)
    object.model = (names(try named(inputs)), names(try named(outputs)))
    return true
  }

  private func input(_ shape: JSONValue, name: String?, type: String?) throws -> PythonSymbol {
    guard let layers, let graph = layers.graph, let tensors else { throw Self.malformed }
    let object = try layers.object(nil)
    object.layerClass = "InputLayer"
    object.fields["batch_input_shape"] = shape
    if let type { object.fields["dtype"] = .string(type) }
    object["name"] = name.map { .string($0) }
    self.name(object)
    let tensor = try tensors.placeholder(ModelDefinition.Layer.shape(shape) ?? [])
    let result = tensors.add(tensor, "Input", self)
    let node = PythonGraph.Node(object, [])
    node.steps = [.init(object, CallArguments(), [], result.names.sorted())]
    graph.add(node)
    return .expression(result)
  }

  /// Gives a layer its name in Keras.
  func name(_ object: PythonObject) {
    guard let graph = layers?.graph, object["name"]?.string == nil, object["_name"] == nil else {
      return
    }
    let isKeras3 = tensors?.call.version.isAtLeast(3, 0) == true
    var kind = ObjectWeights.groupName(object.className)
    if object.layerClass == "InputLayer", !isKeras3 { kind = "input" }
    if object.layerClass == "Model", object.type == nil, isKeras3 { kind = "functional" }
    let start = kind == "input" || tensors?.call.version.isTensorFlowKeras == false ? 1 : 0
    object["name"] = .string(graph.name(kind, from: start))
  }

  /// Calls the layers of a Sequential model in order, starting with its input.
  func realize(_ object: PythonObject) throws {
    guard object.model == nil, let graph = layers?.graph else { return }
    let elements = try elements(object["layers"] ?? .none)
    var shape = object.inputShape
    var name: String?
    var first: PythonSymbol?
    for element in elements.prefix(1) {
      if case .expression = element { first = element }
      guard case .object(let layer) = element else { continue }
      if layer.isModel {
        try realize(layer)
        shape = layer.model?.inputs.first.flatMap { tensors?.tensors[$0]?.shape } ?? shape
      }
      let fields = try configuration(of: layer)
      let declared =
        layer.layerClass == "Embedding" && layer.type == nil
        ? [nil, fields["input_length"]?.int]
        : ModelDefinition.Layer(name: "", className: layer.className, fields: fields, calls: [])
          .declaredShape
      shape = declared ?? ModelDefinition.Layer.shape(fields["shape"]).map { [nil] + $0 } ?? shape
      name = layer.layerClass == "InputLayer" ? layer.layerName : layer.layerName + "_input"
    }
    let (node, isHidden) = (graph.node, graph.isHidden)
    (graph.node, graph.isHidden) = (nil, false)
    defer { (graph.node, graph.isHidden) = (node, isHidden) }
    guard shape != nil || first != nil else {
      throw Self.unsupported("its Sequential '\(object.layerName)' has no input shape")
    }
    let sizes = (shape ?? []).dropFirst().map { $0.map { JSONValue.int($0) } ?? .null }
    let start = try first ?? input(.array([.null] + sizes), name: name, type: nil)
    let end = try calledLayers(object).reduce(start) { try call($1, [$0], []) }
    object.model = (names(start), names(end))
  }

  /// The layers of a Sequential model except its input layer.
  func calledLayers(_ object: PythonObject) throws -> [PythonSymbol] {
    try elements(object["layers"] ?? .none).filter {
      if case .object(let layer) = $0 { layer.layerClass != "InputLayer" } else { !$0.holdsTensor }
    }
  }

  /// The result of a functional model; its shapes are those of the model's own outputs.
  func alias(_ object: PythonObject, _ positional: [PythonSymbol]) throws -> PythonSymbol? {
    guard object.layerClass == "Model", let model = object.model, let tensors else { return nil }
    let given = positional.flatMap(names)
    guard given.count == model.inputs.count,
      zip(given, model.inputs).allSatisfy({
        tensors.tensors[$0]?.shape == tensors.tensors[$1]?.shape
      })
    else { throw Self.unsupported("it calls a model with inputs of other shapes than its own") }
    let outputs = model.outputs.map { PythonSymbol.expression(.name($0)) }
    return outputs.count == 1 ? outputs[0] : .list(PythonList(outputs))
  }

  /// The result of applying a model to each step; nil for other layers.
  func stepwise(_ object: PythonObject, _ positional: [PythonSymbol]) throws -> PythonSymbol? {
    guard case .object(let model)? = object["layer"], let tensors,
      let input = positional.first?.expression
    else { return nil }
    let shape = try tensors.tensor(input, self).shape
    model.inputShape = model.inputShape ?? [nil] + shape.dropFirst(2)
    try realize(model)
    guard let output = model.model?.outputs.first.flatMap({ tensors.tensors[$0] }) else {
      throw Self.malformed
    }
    return .expression(
      tensors.add(
        try tensors.placeholder(Array(shape.prefix(2) + output.shape.dropFirst())), "", self))
  }

  /// Attributes of models and of layers that have been called; nil for other attributes.
  func built(_ name: String, of object: PythonObject) throws -> PythonSymbol? {
    guard let graph = layers?.graph, !graph.isHidden else { return nil }
    func tensors(_ names: [String], isList: Bool) -> PythonSymbol {
      let symbols = names.map { PythonSymbol.expression(.name($0)) }
      return symbols.count == 1 && !isList ? symbols[0] : .list(PythonList(symbols))
    }
    guard object.isModel else {
      let nodes = graph.nodes(of: object)
      guard name == "output", nodes.count == 1 else { return nil }
      return tensors(nodes[0].steps.last?.outputs ?? [], isList: false)
    }
    guard
      ["input", "inputs", "output", "outputs", "layers", "input_shape", "output_shape"]
        .contains(name)
    else { return nil }
    try realize(object)
    guard let model = object.model else { return nil }
    switch name {
    case "layers":
      var seen: Set<ObjectIdentifier> = []
      return .list(
        PythonList(
          try graph.layers(from: model.inputs, to: model.outputs).compactMap { $0[0].object }
            .filter { seen.insert(ObjectIdentifier($0)).inserted }.map { .object($0) }))
    case "input_shape", "output_shape":
      let names = name == "input_shape" ? model.inputs : model.outputs
      return try attribute("shape", of: tensors(names, isList: false))
    default:
      return tensors(
        name.hasPrefix("in") ? model.inputs : model.outputs, isList: name.hasSuffix("s"))
    }
  }

  /// A layer of a model, by name or by index.
  func layer(
    of object: PythonObject, _ positional: [PythonSymbol], _ keywords: Keywords
  ) throws -> PythonSymbol {
    let layers = try elements(built("layers", of: object) ?? .none)
    let key = positional.first ?? keywords.first?.value
    if let index = key?.int { return try element(.int(index), of: .tuple(layers)) }
    let found = layers.first {
      if case .object(let layer) = $0 { layer.layerName == key?.string } else { false }
    }
    guard let found else { throw Self.unsupported("it takes a layer that its model does not have") }
    return found
  }
}
