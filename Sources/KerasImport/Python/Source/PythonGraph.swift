import ByteFormats
import Formulas
import TensorCore

/// The calls of layers and functions in a function, from which its models are built.
final class PythonGraph {
  /// A call of a layer or an operation; tensors are identified by name.
  struct Step {
    var object: PythonObject?
    var className = "TFOpLambda"
    var fields = JSONObject()
    var arguments = CallArguments()
    var inputs: [String]
    var outputs: [String]

    init(
      _ object: PythonObject, _ arguments: CallArguments, _ inputs: [String], _ outputs: [String]
    ) {
      (self.object, self.arguments) = (object, arguments)
      (self.inputs, self.outputs) = (inputs, outputs)
    }

    /// A call of an operation.
    init(_ function: String, _ arguments: CallArguments, _ inputs: [String], _ outputs: [String]) {
      fields["function"] = .string(function)
      (self.arguments, self.inputs, self.outputs) = (arguments, inputs, outputs)
    }
  }

  /// A node in Keras's sense. A Lambda's node contains all steps of its function.
  final class Node {
    let object: PythonObject?
    var inputs: [String]
    var steps: [Step] = []

    init(_ object: PythonObject?, _ inputs: [String]) {
      (self.object, self.inputs) = (object, inputs)
    }

    /// Adds a library function: a layer class or an operation.
    func add(
      _ className: String?, _ fields: JSONObject, _ arguments: CallArguments, _ inputs: [String],
      _ outputs: [PythonSymbol]
    ) {
      let outputs = outputs.flatMap { $0.expression?.names.sorted() ?? [] }
      var step = Step("", arguments, inputs, outputs)
      step.fields = fields
      if let className {
        step.className = className
        let tensors = inputs.indices.map { CallArgument.tensor($0) }
        step.arguments = CallArguments(positional: tensors.count == 1 ? tensors : [.list(tensors)])
      }
      if !outputs.isEmpty { steps.append(step) }
    }

    /// Adds the size of a tensor's batch as operations, and returns its name.
    func add(_ size: SymbolicSize, of tensor: String?) throws -> String {
      guard let tensor, size == .batch(times: 1) else {
        throw PythonMachine.unsupported("it uses an unknown size outside a layer")
      }
      let (shape, batch) = ("\(tensor)#shape\(steps.count)", "\(tensor)#batch\(steps.count)")
      var arguments = CallArguments(positional: [.tensor(0)])
      steps.append(Step("shape", arguments, [tensor], [shape]))
      arguments.positional.append(.value(.int(0)))
      steps.append(Step("getitem", arguments, [shape], [batch]))
      return batch
    }

    /// Identifies all calls of the same layer.
    var operation: ObjectIdentifier {
      object.map { ObjectIdentifier($0) } ?? ObjectIdentifier(self)
    }
  }

  private var nodes: [Node] = []
  private var producers: [String: Node] = [:]
  private var counts: [String: Int] = [:]
  /// The node that is being recorded.
  var node: Node?
  /// Whether nothing is recorded, because only shapes matter, as inside a layer.
  var isHidden = false

  func add(_ node: Node) {
    nodes.append(node)
    for name in node.steps.flatMap(\.outputs) { producers[name] = node }
  }

  func nodes(of object: PythonObject) -> [Node] { nodes.filter { $0.object === object } }

  /// Keras's name for an unnamed layer.
  func name(_ kind: String, from start: Int = 0) -> String {
    let number = counts[kind, default: start]
    counts[kind] = number + 1
    return number == 0 ? kind : "\(kind)_\(number)"
  }

  // MARK: Models

  /// The layers that lead to the outputs, with all their nodes, ordered as in Keras's `map_graph`:
  /// by descending distance from the outputs, then in the order in which they are reached.
  func layers(from inputs: [String], to outputs: [String]) throws -> [[Node]] {
    var positions: [ObjectIdentifier: Int] = [:]
    var done: Set<ObjectIdentifier> = []
    var order: [Node] = []
    var stack: [(tensor: String, isReady: Bool)] = []
    for output in outputs {
      stack.append((output, false))
      while let (tensor, isReady) = stack.popLast() {
        guard let node = producers[tensor] else { throw PythonMachine.malformed }
        if isReady {
          if done.insert(ObjectIdentifier(node)).inserted { order.append(node) }
          continue
        }
        guard !done.contains(ObjectIdentifier(node)) else { continue }
        if positions[node.operation] == nil { positions[node.operation] = positions.count }
        stack.append((tensor, true))
        guard !inputs.contains(tensor) else { continue }
        guard !node.inputs.isEmpty else {
          throw PythonMachine.unsupported("a model does not have the Input that its outputs need")
        }
        stack += node.inputs.reversed().map { ($0, false) }
      }
    }
    var depths: [ObjectIdentifier: Int] = [:]
    var layers: [ObjectIdentifier: (depth: Int, nodes: [Node])] = [:]
    for node in order.reversed() {
      let known = layers[node.operation]
      let depth = max(depths[ObjectIdentifier(node)] ?? 0, known?.depth ?? 0)
      layers[node.operation] = (depth, [node] + (known?.nodes ?? []))
      depths[ObjectIdentifier(node)] = depth
      for input in node.inputs {
        guard let parent = producers[input].map({ ObjectIdentifier($0) }) else { continue }
        depths[parent] = max(depth + 1, depths[parent] ?? 0)
      }
    }
    for input in inputs {
      guard let node = producers[input] else { throw PythonMachine.malformed }
      if layers[node.operation] == nil {
        layers[node.operation] = (0, [node])
        positions[node.operation] = -1
      }
    }
    return layers.sorted { a, b in
      (-a.value.depth, positions[a.key] ?? 0) < (-b.value.depth, positions[b.key] ?? 0)
    }.map(\.value.nodes)
  }

  func definition(
    _ model: PythonObject, _ machine: PythonMachine, depth: Int = 0
  ) throws -> ModelDefinition {
    guard depth < 32 else { throw PythonMachine.unsupported("its models are nested too deeply") }
    try machine.realize(model)
    guard let (inputs, outputs) = model.model else { throw PythonMachine.malformed }
    var parts: [(step: Step, calls: [Step])] = []
    var positions: [ObjectIdentifier: Int] = [:]
    var references: [String: ModelDefinition.Reference] = [:]
    for step in try layers(from: inputs, to: outputs).joined().flatMap(\.steps) {
      var position = parts.count
      if let object = step.object { position = positions[ObjectIdentifier(object)] ?? position }
      if position == parts.count { parts.append((step, [])) }
      if let object = step.object { positions[ObjectIdentifier(object)] = position }
      for (index, output) in step.outputs.enumerated() {
        references[output] = .init(
          layer: position, call: parts[position].calls.count, tensor: index)
      }
      parts[position].calls.append(step)
    }
    func reference(_ tensor: String) throws -> ModelDefinition.Reference {
      guard let found = references[tensor] else {
        throw PythonMachine.unsupported("a model uses a tensor that is not behind its inputs")
      }
      return found
    }
    var definition = ModelDefinition(name: model.layerName)
    for (step, calls) in parts {
      let calls = try calls.map { step in
        var call = ModelDefinition.Call(try step.inputs.map(reference))
        call.arguments = step.arguments
        return call
      }
      definition.layers.append(try layer(step, calls, machine, depth: depth))
    }
    let names = definition.layers.map(\.name)
    try require(Set(names).count == names.count, .unsupported, "two of its layers have one name")
    definition.inputs = try inputs.map(reference)
    definition.outputs = try outputs.map(reference)
    return definition
  }

  private func layer(
    _ step: Step, _ calls: [ModelDefinition.Call], _ machine: PythonMachine, depth: Int
  ) throws -> ModelDefinition.Layer {
    guard let object = step.object else {
      return ModelDefinition.Layer(
        name: step.fields["name"]?.string
          ?? name("op_" + (step.fields["function"]?.string ?? step.className.lowercased())),
        className: step.className, fields: step.fields, calls: calls,
        isOperation: step.className == "TFOpLambda", isOfKeras: true)
    }
    var fields = try machine.configuration(of: object)
    fields["name"] = .string(object.layerName)
    if object.isFrozen { fields["trainable"] = .bool(false) }
    var nested = object.isModel ? try definition(object, machine, depth: depth + 1) : nil
    if case .object(let inner)? = object["layer"], inner.isModel, object.type == nil {
      nested = try definition(inner, machine, depth: depth + 1).appliedStepwise()
    }
    return ModelDefinition.Layer(
      name: object.layerName,
      className: object.type == nil && object.layerClass == "Model"
        ? "Functional" : object.className,
      fields: fields,
      calls: object.layerClass == "InputLayer" ? [] : calls, nested: nested,
      isForeign: object.type != nil, isOfKeras: object.type == nil)
  }
}
