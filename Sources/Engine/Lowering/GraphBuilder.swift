import CoreMLModel
import CustomLayers
import TensorCore

/// Turns the document's layers into a graph: checks names, resolves custom layers and infers
/// shapes.
struct GraphBuilder: Sendable {
  struct Interface: Sendable {
    var inputs: [NetworkFeature] = []
    var outputs: [NetworkFeature] = []
    var kept: [NetworkFeature] = []
    /// The blobs of the outputs and of `kept`, in their order.
    var blobs: [String] = []
  }

  let model: Model
  let network: NeuralNetwork
  let options: CompileOptions
  /// All layers, with nested layers inside them.
  let layers: [PlacedLayer]
  let byteLimit: Int
  /// By the layer's position.
  private var implementations: [Int: CustomLayerInstance] = [:]
  var graph = Graph()
  /// Blobs that have been produced so far.
  var blobs: [String: Graph.ValueID] = [:]
  /// The shapes of empty blobs, which are not in the graph.
  var empty: [String: [Int]] = [:]

  init(model: Model, options: CompileOptions) throws {
    guard let network = model.neuralNetwork else {
      throw ModelError(.unsupported, "the model is not a neural network, so it cannot run")
    }
    layers = try PlacedLayer.layers(of: network)
    (self.model, self.network, self.options) = (model, network, options)
    byteLimit = options.maxMemory ?? MemoryBudget.limit
    try checkSupport()
    implementations = try customImplementations()
  }

  /// Throws one error for all layers that the engine cannot run.
  private func checkSupport() throws {
    var unsupported: [String] = []
    for layer in layers.flatMap(\.all).map(\.layer) {
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

  /// Adds a blob from outside, as an input of the graph or as a constant.
  mutating func addBlob(_ name: String, _ blob: Tensor, isConstant: Bool) throws {
    if blob.shape.contains(0) {
      empty[name] = blob.shape
      return
    }
    let shape = try Shape(blob.shape)
    let constant = isConstant ? try Constant(blob.elements) : nil
    let value = graph.addValue(name, shape, constant: constant)
    blobs[name] = value
    if !isConstant { graph.inputs.append(Graph.Input(name: name, value: value)) }
  }

  /// Adds the layers that can be planned, and returns the others: those whose sizes are values that
  /// are not known yet, and those that depend on them.
  mutating func add(_ layers: [PlacedLayer], _ context: PassContext) throws -> [PlacedLayer] {
    var waiting: [PlacedLayer] = []
    var (read, written): (Set<String>, Set<String>) = ([], [])
    for placed in layers {
      let layer = placed.layer
      let mustWait =
        !waiting.isEmpty
        && (!written.isDisjoint(with: layer.input) || !written.isDisjoint(with: layer.output)
          || !read.isDisjoint(with: layer.output))
      if try mustWait || !placed.inErrors({ try add(placed, context) }) {
        waiting.append(placed)
        read.formUnion(layer.input)
        written.formUnion(layer.output)
      }
    }
    return waiting
  }

  /// Returns false if the layer has to wait for values.
  private mutating func add(_ placed: PlacedLayer, _ context: PassContext) throws -> Bool {
    var layer = placed.layer
    guard let parameters = layer.parameters as? any EngineLayer & LayerParameters else {
      return true
    }
    try Self.check(layer.input.count, in: type(of: parameters).inputCount, "inputs")
    try Self.check(layer.output.count, in: type(of: parameters).outputCount, "outputs")
    if layer.input.contains(where: { empty[$0] != nil }) { return try addEmpty(placed, context) }
    var inputs = try layer.input.map { name in
      guard let value = blobs[name] else {
        throw ModelError(
          .malformed, "neither an input nor an earlier layer produces the blob '\(name)'",
          field: "input")
      }
      return value
    }
    if let dynamic = parameters as? any DynamicLayer,
      case let deciding = dynamic.decidingInputs(inputs.count), !deciding.isEmpty
    {
      guard let values = try values(deciding.map { inputs[$0] }, context) else { return false }
      let shapes = inputs.map { type(of: dynamic).seenShape(graph.shape($0).dimensions) }
      layer.parameters = try dynamic.resolved(shapes, values)
      let kept = dynamic.keptInputs(inputs.count)
      inputs = kept.map { inputs[$0] }
      if let shape = try layer.parameters?.emptyShape(kept.map { shapes[$0] }) {
        setEmpty(layer.output[0], shape)
        return true
      }
    }
    try add(layer, placed.position, inputs)
    return true
  }

  /// The elements of values that do not depend on inputs; nil if any value does.
  mutating func values(_ values: [Graph.ValueID], _ context: PassContext) throws -> [[Float]]? {
    if values.contains(where: { graph.values[$0].constant == nil }) {
      _ = try ConstantFolding.run(&graph, context)
    }
    let constants = values.compactMap { graph.values[$0].constant?.elements(graph.shape($0)) }
    return constants.count == values.count ? constants : nil
  }

  mutating func add(_ layer: NeuralNetworkLayer, _ position: Int, _ inputs: [Graph.ValueID]) throws
  {
    guard let parameters = layer.parameters as? any EngineLayer & LayerParameters else { return }
    let firstNode = graph.nodes.count
    // Moves the graph into the lowering and back, so that it is never copied.
    var moved = Graph()
    swap(&moved, &graph)
    var lowering = LayerLowering(
      layer: layer, inputs: inputs, graph: consume moved, customLayer: implementations[position],
      hooks: options.hooks, byteLimit: byteLimit,
      random: RandomSource(seed: options.seed, position: position))
    if type(of: parameters).minimumRank > 0 { try lowering.giveInputsAxes() }
    let outputs =
      if let sums = parameters as? any HalfSumLayer, let first = layer.output.first,
        options.halfSums.contains(first)
      {
        try lowering.addHalfSums(sums)
      } else {
        try parameters.lower(&lowering)
      }
    graph = (consume lowering).graph
    try require(
      outputs.count == layer.output.count,
      "\(counted(layer.output.count, "output")) are named, but the layer has \(outputs.count)",
      field: "output"
    )
    func dimensions(_ values: [Graph.ValueID]) -> [[Int]] {
      values.map { graph.shape($0).dimensions }
    }
    graph.setMultiplyAdds(
      parameters.multiplyAdds(dimensions(inputs), dimensions(outputs)), ofNodesFrom: firstNode)
    for (name, value) in zip(layer.output, outputs) {
      try require(
        blobs[name] == nil || parameters is Copy, "the blob '\(name)' is written twice",
        field: "output")
      blobs[name] = value
      empty[name] = nil
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
  /// The type's name in the specification; for an opaque layer, the name or number of its field.
  var engineTypeName: String {
    if let opaque = self as? OpaqueLayer, let message = opaque.message {
      return message.name ?? "type \(message.field)"
    }
    return typeName
  }
}

// MARK: - Interface

extension GraphBuilder {
  mutating func addInputs(_ interface: inout Interface) throws {
    guard let description = model.description else {
      throw ModelError(.malformed, "the model has no description of its inputs and outputs")
    }
    for name in options.inputShapes.keys.sorted()
    where !description.input.contains(where: { $0.name == name }) {
      throw ModelError(.mismatch, "the model has no input '\(name)' whose shape could be set")
    }
    let used = readBlobs.union(description.output.map(\.name))
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
        NetworkFeature(name: feature.name, kind: resolved.kind, shape: resolved.shape.dimensions))
    }
  }

  /// Blobs that layers read.
  private var readBlobs: Set<String> {
    layers.lazy.flatMap(\.all).reduce(into: []) { names, placed in
      names.formUnion(placed.layer.input)
      if let loop = placed.layer.parameters as? Loop { names.insert(loop.conditionVar) }
    }
  }

  /// Adds the outputs and the kept blobs, whose shapes are not known yet.
  func addResults(_ interface: inout Interface) throws {
    let written = layers.flatMap(\.all).flatMap(\.layer.output)
    let known = Set(written).union(interface.inputs.map(\.name))
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
      try require(
        known.contains(blob), "no layer provides the output '\(blob)'", field: "description.output")
      interface.outputs.append(NetworkFeature(name: feature.name, kind: kind, shape: []))
      interface.blobs.append(blob)
    }
    try require(
      !interface.outputs.isEmpty, "the model declares no output", field: "description.output")
    let kept: [String]
    switch options.keep {
    case .all: kept = written
    case .named(let wanted):
      for name in wanted.sorted() where !known.contains(name) {
        throw ModelError(.mismatch, "the network has no blob '\(name)'")
      }
      kept = written.filter(wanted.contains) + interface.inputs.map(\.name).filter(wanted.contains)
    }
    var seen = Set(interface.outputs.map(\.name))
    for name in kept where seen.insert(name).inserted {
      interface.kept.append(NetworkFeature(name: name, kind: .array, shape: []))
      interface.blobs.append(name)
    }
  }

  /// Exposes the results in the graph, and sets their shapes.
  mutating func exposeResults(_ interface: inout Interface) throws {
    for (feature, blob) in zip(interface.outputs + interface.kept, interface.blobs) {
      guard let value = blobs[blob] else {
        throw ModelError(
          .malformed, "no layer provides the output '\(blob)'", field: "description.output")
      }
      graph.exposed.append((feature.name, value))
    }
    try interface.setShapes { graph.shape(graph.exposed[$0].value).dimensions }
  }
}

extension GraphBuilder.Interface {
  /// Notes the shape of each result, by its position.
  ///
  /// - Throws: `.malformed` if an image has other channels than its color space.
  mutating func setShapes(_ blobShape: (Int) -> [Int]) throws {
    // Core ML's arrays have at least one axis.
    func shape(_ index: Int) -> [Int] { blobShape(index).isEmpty ? [1] : blobShape(index) }
    for index in outputs.indices {
      outputs[index].shape = shape(index)
      guard case .image(let space) = outputs[index].kind else { continue }
      let channels = try BlobRank.fiveAxes(outputs[index].shape)[2]
      try require(
        channels == space.channelCount,
        "the image output '\(outputs[index].name)' has \(channels) channels, its color space "
          + "\(space.channelCount)", field: "description.output")
    }
    for index in kept.indices { kept[index].shape = shape(outputs.count + index) }
  }
}

// MARK: - Custom layers

extension GraphBuilder {
  /// The implementations of all custom layers, by index of the layer. One error names every class
  /// without an implementation.
  private func customImplementations() throws -> [Int: CustomLayerInstance] {
    var missing: [String: [String]] = [:]
    var found: [(index: Int, custom: Custom, make: CustomLayerRegistry.Factory)] = []
    let all = layers.flatMap(\.all)
    for placed in all {
      let (index, layer) = (placed.position, placed.layer)
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
      let layer = all[index].layer.name
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
