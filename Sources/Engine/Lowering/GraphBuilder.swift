import CoreMLModel
import CustomLayers
import TensorCore

/// Turns the document's layers into a graph: checks names, resolves custom layers and infers
/// shapes.
struct GraphBuilder {
  struct Interface {
    var inputs: [NetworkFeature] = []
    var outputs: [NetworkFeature] = []
    var kept: [NetworkFeature] = []
  }

  let model: Model
  let network: NeuralNetwork
  let options: CompileOptions
  private let byteLimit: Int
  private(set) var graph = Graph()
  /// Blobs produced so far.
  private var blobs: [String: Graph.ValueID] = [:]

  init(model: Model, options: CompileOptions) throws {
    guard let network = model.neuralNetwork else {
      throw ModelError(.unsupported, "the model is not a neural network, so it cannot run")
    }
    try require(
      network.layers.count <= Limits.layers, .limitExceeded,
      "\(network.layers.count) layers, more than the limit of \(Limits.layers)")
    self.model = model
    self.network = network
    self.options = options
    byteLimit = options.maxMemory ?? MachineMemory.byteCount
  }

  mutating func build() throws -> (Graph, Interface) {
    try checkSupport()
    let implementations = try customImplementations()
    var interface = Interface()
    try addInputs(&interface)
    for (index, layer) in network.layers.enumerated() {
      do {
        try add(layer, implementations[index])
      } catch let error as ModelError {
        throw error.inLayer(layer.name, class: layer.parameters?.engineTypeName)
      }
    }
    try exposeOutputs(&interface)
    try exposeKept(&interface)
    return (graph, interface)
  }

  /// Throws one error for all layers that the engine cannot run.
  private func checkSupport() throws {
    var unsupported: [String] = []
    for layer in network.layers {
      guard let parameters = layer.parameters else {
        unsupported.append("'\(layer.name)' (no type)")
        continue
      }
      if !(parameters is any EngineLayer) {
        unsupported.append("'\(layer.name)' (\(parameters.engineTypeName))")
      }
    }
    guard !unsupported.isEmpty else { return }
    throw ModelError(
      .unsupported,
      unsupported.count == 1
        ? "the engine does not support layer \(unsupported[0])"
        : "the engine does not support \(unsupported.count) layers: \(unsupported.joined(separator: ", "))"
    )
  }

  private mutating func add(_ layer: NeuralNetworkLayer, _ custom: CustomLayerInstance?) throws {
    guard let parameters = layer.parameters as? any EngineLayer & LayerParameters else { return }
    try Self.check(layer.input.count, in: type(of: parameters).inputCount, "inputs")
    try Self.check(layer.output.count, in: type(of: parameters).outputCount, "outputs")
    let inputs = try layer.input.map { name in
      guard let value = blobs[name] else {
        throw ModelError(
          .malformed, "neither an input nor an earlier layer produces the blob '\(name)'",
          field: "input")
      }
      return value
    }
    let firstNode = graph.nodes.count
    // Moves the graph into the lowering and back, so that it is never copied.
    var moved = Graph()
    swap(&moved, &graph)
    var lowering = LayerLowering(
      layer: layer, inputs: inputs, graph: consume moved, customLayer: custom,
      hooks: options.hooks, byteLimit: byteLimit)
    let outputs = try parameters.lower(&lowering)
    graph = (consume lowering).graph
    try require(
      outputs.count == layer.output.count,
      "\(layer.output.count) outputs are named, but the layer has \(outputs.count)", field: "output"
    )
    func dimensions(_ values: [Graph.ValueID]) -> [[Int]] {
      values.map { graph.shape($0).dimensions }
    }
    graph.setMultiplyAdds(
      parameters.multiplyAdds(dimensions(inputs), dimensions(outputs)), ofNodesFrom: firstNode)
    for (name, value) in zip(layer.output, outputs) {
      try require(
        blobs[name] == nil, "the blob '\(name)' is written twice", field: "output")
      blobs[name] = value
      if graph.values[value].name.isEmpty { graph.values[value].name = name }
    }
  }

  private static func check(_ count: Int, in range: ClosedRange<Int>, _ what: String) throws {
    if range.contains(count) { return }
    let allowed =
      range.lowerBound == range.upperBound
      ? "\(range.lowerBound)"
      : range.upperBound == .max
        ? "at least \(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
    throw ModelError(.malformed, "the layer has \(count) \(what); it needs \(allowed)", field: what)
  }
}

extension LayerParameters {
  /// The type's name in the specification; for a layer carried through, that of its field.
  var engineTypeName: String {
    if let opaque = self as? OpaqueLayer, let message = opaque.message {
      return message.name ?? "type \(message.field)"
    }
    return typeName
  }
}

// MARK: - Interface

extension GraphBuilder {
  private mutating func addInputs(_ interface: inout Interface) throws {
    guard let description = model.description else {
      throw ModelError(.malformed, "the model has no description of its inputs and outputs")
    }
    for name in options.inputShapes.keys.sorted()
    where !description.input.contains(where: { $0.name == name }) {
      throw ModelError(.mismatch, "the model has no input '\(name)' whose shape could be set")
    }
    let used = Set(network.layers.flatMap(\.input)).union(description.output.map(\.name))
    for feature in description.input {
      let isUsed = used.contains(feature.name)
      if !isUsed, feature.type?.isOptional == true { continue }
      let resolved = try InputFeature(feature, override: options.inputShapes[feature.name], network)
      try resolved.shape.requireMemory(byteLimit)
      try require(blobs[feature.name] == nil, "two inputs are named '\(feature.name)'")
      if feature.type?.isOptional == true, options.inputShapes[feature.name] == nil {
        // An optional input without a value, such as a recurrent layer's state, is zero.
        let zeros = try Constant([Float](repeating: 0, count: resolved.shape.count))
        blobs[feature.name] = graph.addValue(feature.name, resolved.shape, constant: zeros)
        continue
      }
      let value = graph.addValue(feature.name, resolved.shape)
      blobs[feature.name] = value
      graph.inputs.append(
        Graph.Input(
          name: feature.name, value: value,
          preprocessing: try resolved.preprocessing(network, in: description)))
      interface.inputs.append(
        NetworkFeature(
          name: feature.name, kind: resolved.kind, shape: resolved.shape.dimensions))
    }
  }

  private mutating func exposeOutputs(_ interface: inout Interface) throws {
    guard let description = model.description else { return }
    for feature in description.output {
      var kind = NetworkFeature.Kind.array
      var blob = feature.name
      switch feature.type?.kind {
      case .image(let image): kind = .image(image.colorSpace)
      case .dictionary:
        kind = .probabilities
        if case .neuralNetworkClassifier(let classifier) = model.type {
          blob = classifier.probabilitiesBlob ?? blob
        }
      case .int64 where feature.name == description.predictedFeatureName: continue
      case .string: continue
      default: break
      }
      guard let value = blobs[blob] else {
        throw ModelError(
          .malformed, "no layer provides the output '\(blob)'", field: "description.output")
      }
      if case .image(let space) = kind, graph.shape(value).channels != space.channelCount {
        throw ModelError(
          .malformed,
          "the image output '\(feature.name)' has \(graph.shape(value).channels) channels, its "
            + "color space \(space.channelCount)", field: "description.output")
      }
      graph.exposed.append((feature.name, value))
      interface.outputs.append(
        NetworkFeature(name: feature.name, kind: kind, shape: graph.shape(value).dimensions))
    }
    try require(
      !interface.outputs.isEmpty, "the model declares no output", field: "description.output")
  }

  private mutating func exposeKept(_ interface: inout Interface) throws {
    var names: [String]
    switch options.keep {
    case .all: names = network.layers.flatMap(\.output)
    case .named(let wanted):
      for name in wanted.sorted() where blobs[name] == nil {
        throw ModelError(.mismatch, "the network has no blob '\(name)'")
      }
      names = network.layers.flatMap(\.output).filter(wanted.contains)
      names += interface.inputs.map(\.name).filter(wanted.contains)
    }
    let known = Set(interface.outputs.map(\.name))
    names.removeAll(where: known.contains)
    for name in names {
      guard let value = blobs[name] else { continue }
      graph.exposed.append((name, value))
      interface.kept.append(
        NetworkFeature(name: name, kind: .array, shape: graph.shape(value).dimensions))
    }
  }
}

// MARK: - Custom layers

extension GraphBuilder {
  /// The implementations of all custom layers, by position of the layer. One error names every
  /// class without an implementation.
  private func customImplementations() throws -> [Int: CustomLayerInstance] {
    var missing: [String: [String]] = [:]
    var found: [(index: Int, custom: Custom, make: CustomLayerRegistry.Factory)] = []
    for (index, layer) in network.layers.enumerated() {
      guard let custom = layer.parameters as? Custom else { continue }
      try require(
        !custom.className.isEmpty, "the class name of a custom layer is empty", layer: layer.name,
        layerClass: "custom", field: "className")
      if let make = options.customLayers.factory(of: custom) {
        found.append((index, custom, make))
      } else {
        missing[custom.className, default: []].append(layer.name)
      }
    }
    if !missing.isEmpty { throw options.customLayers.notFound(missing) }
    let instances = options.customLayerInstances ?? CustomLayerInstances()
    var implementations: [Int: CustomLayerInstance] = [:]
    for (index, custom, make) in found {
      let layer = network.layers[index].name
      do {
        implementations[index] = try instances.instance(
          ofLayer: index, className: custom.className
        ) {
          try custom.instantiate(make, layer: layer, hooks: options.hooks)
        }
      } catch {
        throw customLayerError(error, layer: layer, className: custom.className)
      }
    }
    return implementations
  }
}
