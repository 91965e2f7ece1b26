import CoreMLModel
import ImportSupport
import TensorCore

/// The model with nested models expanded and a separate node for every call of a shared layer.
/// Every node comes after its inputs.
struct KerasGraph: Sendable {
  struct Reference: Sendable, Equatable {
    var node: Int
    var tensor: Int
  }

  struct Node: Sendable {
    /// The name of the Core ML layer.
    var name: String
    var layer: ModelDefinition.Layer
    /// The index of the layer, which all of its calls share.
    var layerIndex: Int
    var inputs: [Reference]
    var arguments = CallArguments()
    /// The number of outputs that other nodes use.
    var outputCount = 1
    /// The masks passed to the call, of its first inputs; nil for None.
    var masks: [Reference?] = []
    /// Whether an output of the model depends on the node.
    var isNeeded = true
  }

  var nodes: [Node] = []
  /// The nodes of the model's inputs.
  var inputs: [Int] = []
  var outputs: [Reference] = []
  /// The dictionary keys of the inputs, or else the names of the input layers.
  private(set) var inputNames: [String] = []
  /// The dictionary keys of the outputs, in file order, or else the names of the output layers.
  private(set) var outputNames: [String] = []
  /// Whether the outputs are a dictionary.
  private(set) var hasOutputKeys = false
  /// Whether a mask is passed to a nested model.
  private var passesMasks = false
  /// All layers, each once, in the order of the configuration.
  var layers: [ModelDefinition.Layer] = []

  /// - Parameter isOrdered: whether calls are in the order in which Keras runs them.
  init(_ definition: ModelDefinition, isOrdered: Bool = false) throws {
    var builder = Builder()
    builder.isOrdered = isOrdered
    let outputs = try builder.expand(definition, prefix: "", arguments: nil, isTraining: false)
    self = builder.graph
    self.outputs = outputs
    func names(_ references: [ModelDefinition.Reference]) -> [String] {
      references.map { definition.layers[$0.layer].name }
    }
    func areNames(_ keys: [String], of count: Int) -> Bool {
      keys.count == count && !keys.contains("")
    }
    inputNames =
      areNames(definition.inputKeys, of: inputs.count)
      ? definition.inputKeys.sorted() : names(definition.inputs)
    outputNames = names(definition.outputs)
    if areNames(definition.outputKeys, of: outputs.count) {
      hasOutputKeys = true
      // Keras flattens a dictionary in the order of its sorted keys.
      let sorted = definition.outputKeys.sorted()
      outputNames = definition.outputKeys
      self.outputs = outputNames.map { outputs[sorted.firstIndex(of: $0) ?? 0] }
    }
    leaveMasksOut()
    for output in outputs {
      nodes[output.node].outputCount = max(nodes[output.node].outputCount, output.tensor + 1)
    }
    for node in nodes {
      for input in node.inputs where input.tensor >= nodes[input.node].outputCount {
        nodes[input.node].outputCount = input.tensor + 1
      }
    }
  }

  private init() {}

  /// The options with a name for every input and output.
  func naming(_ options: ConversionOptions, notes: inout [String]) -> ConversionOptions {
    let isNumbered = options.usesReferenceNames
    return options.naming(
      inputs: isNumbered ? FeatureNames.input.numbered(inputs.count) : inputNames,
      outputs: isNumbered && !hasOutputKeys
        ? FeatureNames.output.numbered(outputs.count) : outputNames, notes: &notes)
  }

  /// Makes all results of a subclassed model's `call` outputs, and names them in the options.
  mutating func outputs(
    of definition: ModelDefinition, _ tensors: [[KerasTensor]?], _ options: ConversionOptions,
    notes: inout [String]
  ) -> ConversionOptions {
    guard definition.isSubclassed, let last = outputs.first?.node, let given = tensors[last],
      given.count > 1
    else { return options }
    outputs = given.indices.map { Reference(node: last, tensor: $0) }
    outputNames = FeatureNames.output.numbered(given.count)
    return naming(options, notes: &notes)
  }

  /// Removes the operations that compute the masks of `Embedding` and `Masking`. Keras 3 records
  /// them and passes their results to layers as an argument; here, tensors carry their masks.
  private mutating func leaveMasksOut() {
    for index in nodes.indices where !nodes[index].layer.isOperation {
      // Only Softmax takes a mask as a second input.
      if nodes[index].layer.className == "Softmax" { continue }
      guard let argument = nodes[index].arguments.keywords["mask"] else { continue }
      let positions = Set(argument.tensors)
      if positions.isEmpty { continue }
      var masks = [argument]
      if case .list(let elements) = argument { masks = elements }
      nodes[index].masks = masks.map { $0.tensors.first.map { nodes[index].inputs[$0] } }
      nodes[index].arguments.keywords["mask"] = nil
      nodes[index].arguments.remove(positions)
      nodes[index].inputs = nodes[index].inputs.indices.filter { !positions.contains($0) }
        .map { nodes[index].inputs[$0] }
    }
    guard passesMasks || nodes.contains(where: { !$0.masks.isEmpty }) else { return }
    var needed = Set(outputs.map(\.node)).union(inputs)
    // Every node comes after its inputs.
    for index in nodes.indices.reversed() where needed.contains(index) {
      needed.formUnion(nodes[index].inputs.map(\.node))
    }
    for index in nodes.indices where nodes[index].layer.isOperation {
      nodes[index].isNeeded = needed.contains(index)
    }
  }

  private struct Builder {
    var graph = KerasGraph()
    var isOrdered = false
    private var indices: [ObjectIdentifier: Int] = [:]
    private var names = NamePool()

    init() {}

    private struct Call: Hashable {
      var layer: Int
      var call: Int
    }

    private struct SharedCall: Hashable {
      var layer: Int
      var inputs: [ModelDefinition.Reference]
    }

    /// Adds the nodes of a model.
    ///
    /// - Parameter arguments: the inputs of a nested model; nil for the outermost model.
    /// - Returns: the outputs of the model.
    mutating func expand(
      _ model: ModelDefinition, prefix: String, arguments: [Reference]?, isTraining: Bool
    ) throws -> [Reference] {
      var results: [Call: [Reference]] = [:]
      var position: [Call: Int] = [:]
      var emitted: [SharedCall: [Int]] = [:]
      for (index, input) in model.inputs.enumerated() {
        position[Call(layer: input.layer, call: input.call)] = index
      }
      if let arguments, arguments.count != model.inputs.count {
        throw ModelError(
          .malformed,
          "the model '\(model.name)' has \(counted(model.inputs.count, "input")) but gets "
            + "\(arguments.count)")
      }
      for place in isOrdered ? model.executionOrder : [] {
        try visit(Call(layer: place.layer, call: place.call))
      }
      let ends = Set((model.inputs + model.outputs).map(\.layer))
      for (index, layer) in model.layers.enumerated() {
        // A model may contain layers that it never calls.
        if layer.calls.isEmpty, !layer.isInput, !ends.contains(index) { continue }
        for call in 0..<max(layer.calls.count, 1) { try visit(Call(layer: index, call: call)) }
      }
      if arguments == nil {
        graph.inputs = try model.inputs.map { input in
          let node = try (results[Call(layer: input.layer, call: input.call)]?.first?.node).orThrow(
            ModelError(.malformed, "an input of the model is not one of its layers"))
          return node
        }
      }
      return try model.outputs.map { try resolve($0) }

      func resolve(_ reference: ModelDefinition.Reference) throws -> Reference {
        let layer = model.layers[reference.layer]
        let found = try results[Call(layer: reference.layer, call: reference.call)].orThrow(
          ModelError(
            .malformed, "call \(reference.call) of it does not exist", layer: layer.name,
            layerClass: layer.className))
        if layer.nested == nil {
          return Reference(node: found[0].node, tensor: found[0].tensor + reference.tensor)
        }
        try require(
          reference.tensor < found.count, "output \(reference.tensor) of it does not exist",
          layer: layer.name, layerClass: layer.className)
        return found[reference.tensor]
      }

      /// Depth-first with an explicit stack, because a file may chain any number of layers.
      func visit(_ start: Call) throws {
        var stack = [(call: start, isReady: false)]
        // Calls whose inputs are being visited.
        var open: Set<Call> = []
        while let (call, isReady) = stack.popLast() {
          if results[call] != nil { continue }
          let layer = model.layers[call.layer]
          let inputs = layer.calls.isEmpty ? [] : layer.calls[call.call].inputs
          if isReady {
            results[call] = try emit(call, layer, inputs)
            open.remove(call)
            continue
          }
          try require(
            open.insert(call).inserted, "it depends on itself", layer: layer.name,
            layerClass: layer.className)
          stack.append((call, true))
          for input in inputs.reversed() {
            let source = model.layers[input.layer]
            try require(
              input.call >= 0 && input.call < max(source.calls.count, 1),
              "it reads call \(input.call) of '\(source.name)', which does not exist",
              layer: layer.name, layerClass: layer.className)
            let needed = Call(layer: input.layer, call: input.call)
            if results[needed] == nil { stack.append((needed, false)) }
          }
        }
      }

      func emit(
        _ call: Call, _ layer: ModelDefinition.Layer, _ inputs: [ModelDefinition.Reference]
      ) throws -> [Reference] {
        if let arguments, let index = position[call] { return [arguments[index]] }
        var name = prefix + layer.name
        let inputs = try inputs.map { try resolve($0) }
        if layer.calls.count > 1 {
          // Equal calls share a node.
          let key = SharedCall(layer: call.layer, inputs: layer.calls[call.call].inputs)
          for other in emitted[key] ?? []
          where layer.calls[other].arguments == layer.calls[call.call].arguments {
            if let known = results[Call(layer: call.layer, call: other)] { return known }
          }
          emitted[key, default: []].append(call.call)
          if layer.calls.contains(where: { $0 != layer.calls[0] }) { name += "_\(call.call)" }
        }
        var arguments = layer.calls.isEmpty ? CallArguments() : layer.calls[call.call].arguments
        let training = arguments.keywords["training"]?.constant
        arguments.isTraining = training?.bool ?? training?.int.map { $0 != 0 } ?? isTraining
        if let nested = layer.nested {
          // The inputs carry the masks that Keras 3 records.
          let recorded = Set(arguments.keywords["mask"]?.tensors ?? []).filter {
            inputs.indices.contains($0) && graph.nodes[inputs[$0].node].layer.isOperation
          }
          graph.passesMasks = graph.passesMasks || !recorded.isEmpty
          let given = inputs.indices.filter { !recorded.contains($0) }.map { inputs[$0] }
          return try expand(
            nested, prefix: name + "_", arguments: given, isTraining: arguments.isTraining)
        }
        let node = try add(layer, name: name, inputs: inputs, arguments: arguments)
        return [Reference(node: node, tensor: 0)]
      }
    }

    private mutating func add(
      _ layer: ModelDefinition.Layer, name: String, inputs: [Reference], arguments: CallArguments
    ) throws -> Int {
      try require(
        graph.nodes.count < Limits.layers, .limitExceeded,
        "more than \(Limits.layers) layers, counting each use of a shared layer")
      let unique = names.take(name)
      let index: Int
      if let known = indices[ObjectIdentifier(layer)] {
        index = known
      } else {
        index = graph.layers.count
        indices[ObjectIdentifier(layer)] = index
        graph.layers.append(layer)
      }
      graph.nodes.append(
        Node(name: unique, layer: layer, layerIndex: index, inputs: inputs, arguments: arguments))
      return graph.nodes.count - 1
    }
  }
}

extension KerasGraph {
  /// Theano's convolutions flip their kernels, and Keras 1 does not write which backend it ran on.
  func notes(on version: KerasVersion) -> [String] {
    guard version.backend == nil,
      let node = nodes.first(where: {
        $0.layer.fields["dim_ordering"]?.string == "th" && $0.layer.fields["nb_filter"] != nil
      })
    else { return [] }
    return [
      "layer '\(node.name)' (\(node.layer.className)): the kernel is used as stored, as in Keras; "
        + "if the network was trained with Theano, add an attribute 'backend' with the value "
        + "'theano' to the file"
    ]
  }
}
