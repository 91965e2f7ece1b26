import CoreMLModel
import ImportSupport
import TensorCore

/// One run of the conversion, layer by layer.
package struct CaffeConversion: SourceConversion {
  private let source: CaffeSource
  private let given: ConversionOptions
  /// The options with a name for each feature.
  private(set) var options: ConversionOptions
  let graph: CaffeGraph
  private let blobs: [[CaffeBlob]]
  /// The tensor of each version in the graph; nil until it is created.
  private var tensors: [CaffeTensor?]
  private var problems: [ModelError] = []
  private var names: BlobNames
  /// In a plan, the versions with shapes that depend on the given unconverted layer.
  private var guesses: [Int: LayerCall] = [:]
  private(set) var inputs: [CaffeInput] = []
  /// The layer that works across the batch, which makes the model take whole batches.
  private var batchLayer: LayerCall?
  var network: CaffeWriter
  package var plan: [PlanEntry] { network.plan }

  package init(_ source: CaffeSource, _ options: ConversionOptions) throws {
    self.source = source
    given = options
    self.options = options
    graph = try CaffeGraph(source.network, state: options.networkState)
    blobs = source.weights?.blobs(of: graph.nodes.map(\.layer)) ?? graph.nodes.map { _ in [] }
    tensors = [CaffeTensor?](repeating: nil, count: graph.versions.count)
    network = CaffeWriter(onVisit: options.onVisit)
    network.notes = source.notes + graph.notes
    names = BlobNames()
  }

  package mutating func run() throws -> ImportedNetwork {
    var imported = ImportedNetwork(source: "Caffe")
    do {
      imported.inputs = try addInputs()
    } catch {
      // Unsupported layers are reported before errors that follow from them.
      problems = graph.nodes.filter(\.isNeeded).compactMap { unknownTypeError($0) }
      throw UnsupportedLayers.error(problems) ?? error
    }
    for index in graph.nodes.indices {
      convert(index)
      guard network.keepsBatch || batchLayer == nil else { return try runWithBatch() }
    }
    if let error = problemsAsOne { throw error }
    imported.outputs = try addOutputs()
    imported.hasOwnBatches = network.hasRegions
    imported.keepsBatch = network.keepsBatch
    let quantized = graph.nodes.filter { $0.isNeeded && $0.layer.isQuantized }.count
    if quantized > 0 {
      network.notes.append("\(counted(quantized, "layer")) of 8 bits, now in single precision")
    }
    noteUnusedWeights()
    let renamings = names.renamings(network.layers)
    func renamed(_ blob: String) -> String { renamings[blob] ?? blob }
    imported.layers = network.layers.map { layer in
      var layer = layer
      layer.input = layer.input.map(renamed)
      layer.output = layer.output.map(renamed)
      return layer
    }
    for index in imported.outputs.indices {
      imported.outputs[index].name = renamed(imported.outputs[index].name)
    }
    imported.sourceBlobs = network.sourceBlobs.mapValues(renamed)
    for tensor in tensors.lazy.compactMap({ $0 }) {
      let blob = renamed(tensor.blob)
      imported.blobLayouts[blob] = imported.blobLayouts[blob] ?? FeatureLayout.letters(tensor)
    }
    imported.removeUnread()
    options = options.naming(
      inputs: imported.inputs.map(\.name), outputs: imported.outputs.map(\.name),
      notes: &network.notes)
    if imported.needsExactMapping {
      let names = zip(options.inputNames, imported.inputs)
      imported.makeExact(
        images: Set(names.filter { options.imageInputs.contains($0.0) }.map(\.1.name)))
    }
    return imported
  }

  /// All problems that prevent the conversion, including mismatched blobs.
  private var problemsAsOne: ModelError? {
    guard var error = UnsupportedLayers.error(problems) else { return nil }
    if let weights = source.weights {
      let unused = unusedLayers(weights)
      if !unused.isEmpty, problems.contains(where: { $0.message.contains("weights file") }) {
        error.message += "\n no layer uses the weights of \(firstNames(unused))"
      }
    }
    return error
  }

  private mutating func addInputs() throws -> [ImportedFeature] {
    try findInputs()
    try require(
      !inputs.isEmpty, "the network has no inputs",
      hint: source.path.hasSuffix(".caffemodel")
        ? "give the .prototxt before the .caffemodel"
        : "declare them: input: \"data\" input_shape { dim: 1 dim: 3 dim: 224 dim: 224 }, or add an Input layer"
    )
    if let batchLayer { try keepBatches(for: batchLayer) }
    return inputs.indices.map { index in
      let input = inputs[index]
      var tensor = CaffeTensor(network.reserve(input.blob), input.itemShape, axes: input.axes)
      tensor.readers = graph.versions[input.version].readers
      tensor.batch = input.shape.indices.first { input.itemShape[$0] != input.shape[$0] }
        .map { OmittedBatch(axis: $0, size: input.shape[$0]) }
      tensors[input.version] = tensor
      names.addInput(tensor.blob)
      var feature = ImportedFeature(
        name: tensor.blob, shape: input.featureShape, layout: FeatureLayout.letters(tensor))
      feature.sourceShape = input.shape
      return feature
    }
  }

  /// Restarts the conversion with whole batches.
  private mutating func runWithBatch() throws -> ImportedNetwork {
    let layer = batchLayer
    self = try CaffeConversion(source, given)
    batchLayer = layer
    return try run()
  }

  /// Keeps the batches of all inputs for a layer that works across a batch, such as one that makes
  /// sequences from the images of several videos.
  private mutating func keepBatches(for layer: LayerCall) throws {
    let image = zip(options.inputNames, inputs).first { options.imageInputs.contains($0.0) }?.0
    try layer.require(
      image == nil,
      unsupported: "it works across the batch, so '\(image ?? "")' cannot be an image",
      hint: "set a batch of one with \(setting: "inputShape")")
    network.keepsBatch = true
    for index in inputs.indices { inputs[index].keepsBatch = true }
    network.notes.append(
      "layer '\(layer.name)' (\(layer.type)) works across the batch, so the model takes all of it")
  }

  private mutating func findInputs() throws {
    var found:
      [(
        version: Int, declared: [Int]?, layer: LayerCall,
        readers: [(layer: LayerCall, bottom: Int)]
      )] = []
    for node in graph.nodes where node.role == .input {
      let declared = try InputShapes.shapes(node.layer)
      network.visit(node.layer.name, node.layer.type)
      network.finish(node.layer.name, node.layer.type)
      for (index, version) in node.outputs.enumerated() {
        let readers = graph.readers(of: version)
        if readers.isEmpty {
          let measured = graph.nodes.contains { $0.inputs.contains(version) }
          // Unused inputs stay in the interface; inputs that only a loss uses do not.
          if node.layer.type != "Input" || measured { continue }
        }
        let shape = declared.indices.contains(index) ? declared[index] : nil
        found.append((version, shape, node.layer, readers))
      }
    }
    found.sort { graph.versions[$0.version].blob < graph.versions[$1.version].blob }
    options = options.naming(
      inputs: found.map { graph.versions[$0.version].blob }, outputs: [], notes: &network.notes)
    inputs = try zip(options.inputNames, found).map { name, input in
      let blob = graph.versions[input.version].blob
      let reading = InputReaders(readers: input.readers, weights: source.weights)
      let shape = try InputShapes.shape(
        input.declared ?? reading.vector, requested: options.inputShapes[name],
        channels: reading.channels, name: name, layer: input.layer)
      if shape == input.declared, reading.needsRoom,
        let note = try InputShapes.placeholderNote(shape, name: name, layer: input.layer)
      {
        network.notes.append(note)
      }
      if input.layer.type != "Input" {
        network.notes.append(
          "layer '\(input.layer.name)' (\(input.layer.type)) becomes the input '\(name)' of shape \(shape)"
        )
      }
      return CaffeInput(
        blob: blob, version: input.version, shape: shape, axes: reading.axes(shape),
        layer: input.layer)
    }
  }

  // MARK: Layers

  private func unknownTypeError(_ node: CaffeGraph.Node) -> ModelError? {
    let layer = node.layer
    guard node.role == .computing, !options.customLayers.allowsAll, rule(layer) == nil else {
      return nil
    }
    guard let type = CaffeLayerRegistry.type(named: layer.type) else {
      return CustomCaffeLayer.unknownType(layer)
    }
    let isPython = type.source.names == CaffeLayerType.python.source.names
    return isPython ? CaffeLayerType.pythonRefusal(of: layer) : nil
  }

  private func rule(_ layer: LayerCall) -> CustomLayerRule? {
    options.customLayers.rule(for: CustomLayerSubject(layer: layer.name, layerClass: layer.type))
  }

  private mutating func convert(_ index: Int) {
    let node = graph.nodes[index]
    let known = node.inputs.compactMap { tensors[$0] }
    switch node.role {
    case .input: return
    case .silencing, .measuring, .passing:
      network.finish(node.layer.name, node.layer.type)
      guard let first = known.first else { return }
      do {
        if let note = try CaffeLayerType.dropoutNote(node.layer) { network.notes.append(note) }
        try node.layer.requireSettingsRead()
      } catch { add(error, node.layer) }
      for output in node.outputs { set(output, first) }
      return
    case .computing: break
    }
    guard node.isNeeded else {
      network.finish(node.layer.name, node.layer.type)
      return
    }
    guard known.count == node.inputs.count else {
      // An input has already failed, but an unknown type can still be reported.
      if let error = unknownTypeError(node) { problems.append(error) }
      return
    }
    var layer = node.layer
    layer.inputs = known
    layer.blobs = blobs[index]
    layer.topReaders = node.outputs.map { graph.versions[$0].readerTypes }
    layer.weightsPath = options.isPlan ? nil : source.weights?.path
    layer.missingWeights = source.weights == nil || options.isPlan ? options.missingWeights : nil
    network.visit(layer.name, layer.type)
    let position = network.layers.count
    do {
      let batch = try layer.topBatch(
        CaffeLayerRegistry.type(named: layer.type), isCustom: rule(layer) != nil)
      guard batch != nil || known.allSatisfy({ $0.batch == nil }) else {
        batchLayer = layer
        return
      }
      let outputs = try converted(layer)
      try layer.require(
        outputs.count == node.outputs.count,
        "it has \(counted(node.outputs.count, "top")); it can have \(outputs.count)", field: "top")
      for tensor in outputs {
        try layer.require(
          tensor.shape.allSatisfy({ (0...Limits.dimension).contains($0) }),
          "its top would have the shape \(tensor.shapeText)", code: .limitExceeded)
      }
      network.noteBlobs(of: layer, outputs)
      for (version, var tensor) in zip(node.outputs, outputs) {
        tensor.batch = tensor.constant == nil ? batch : nil
        set(version, tensor)
        names.made(
          graph.versions[version].blob, tensor.blob, by: layer.name, position: position,
          replacing: zip(node.inputs, known).first { input, _ in
            graph.versions[input].blob == graph.versions[version].blob
          }?.1.blob)
      }
      if let cause = cause(node) ?? (outputs.contains(where: \.isShapeAssumed) ? layer : nil) {
        for output in node.outputs { guesses[output] = cause }
      }
      noteLayer(layer)
      network.finish(layer.name, layer.type)
    } catch {
      network.abandon()
      add(error, layer)
      problems.append(problems.removeLast().caused(by: cause(node).map { ($0.name, $0.type) }))
      if options.isPlan { refuse(node, layer, known) }
    }
  }

  /// The layer because of which the shape of one of the node's bottoms is an assumption.
  private func cause(_ node: CaffeGraph.Node) -> LayerCall? {
    node.inputs.lazy.compactMap { guesses[$0] }.first
  }

  /// Records in the plan that the layer is not converted because of the last problem, and continues
  /// with its first bottom.
  private mutating func refuse(
    _ node: CaffeGraph.Node, _ layer: LayerCall, _ inputs: [CaffeTensor]
  ) {
    guard let problem = problems.last else { return }
    var refusal = CustomCaffeLayer.refusal(of: layer, problem)
    refusal.isOpen = cause(node) != nil && unknownTypeError(node) == nil
    network.refuse(layer.name, layer.type, refusal)
    for output in node.outputs { guesses[output] = cause(node) ?? layer }
    guard var result = inputs.first else { return }
    result.constant = nil
    result.maxima = nil
    for output in node.outputs { set(output, result) }
  }

  private mutating func add(_ error: any Error, _ layer: LayerCall) {
    problems.append(
      (error as? ModelError ?? ModelError(.internal, "\(error)"))
        .inLayer(layer.name, class: layer.type))
  }

  private mutating func set(_ version: Int, _ tensor: CaffeTensor) {
    var tensor = tensor
    tensor.readers = graph.versions[version].readers
    tensors[version] = tensor
  }

  private mutating func converted(_ layer: LayerCall) throws -> [CaffeTensor] {
    if let rule = rule(layer) { return try custom(layer, rule) }
    guard let type = CaffeLayerRegistry.type(named: layer.type) else {
      guard options.customLayers.allowsAll else { throw CustomCaffeLayer.unknownType(layer) }
      let question = CustomCaffeLayer.question(layer)
      if !question.isEmpty {
        network.notes.append(
          "layer '\(layer.name)' (\(layer.type)) becomes a custom layer" + question)
      }
      return try custom(layer)
    }
    do {
      let outputs = try type.convert(layer, &network)
      try layer.requireSettingsRead()
      return outputs
    } catch let error as ModelError where error.code == .unsupported {
      guard options.customLayers.allowsAll else { throw error }
      network.abandon()
      network.notes.append(
        "\(error.inLayer(layer.name, class: layer.type)): it becomes a custom layer")
      return try custom(layer)
    }
  }

  private mutating func custom(
    _ layer: LayerCall, _ rule: CustomLayerRule? = nil
  ) throws -> [CaffeTensor] {
    try CustomCaffeLayer(layer: layer, rule: rule).convert(options.customLayerShapes, &network)
  }

  private mutating func noteLayer(_ layer: LayerCall) {
    let unused = layer.blobs.indices.filter { !layer.usage.blobs.contains($0) }
    if !unused.isEmpty, !layer.usage.blobs.isEmpty {
      network.notes.append(
        "layer '\(layer.name)' (\(layer.type)) has \(layer.blobs.count) blobs in the weights file "
          + "but uses \(layer.usage.blobs.count)")
    }
  }

  private func unusedLayers(_ weights: CaffeWeights) -> [String] {
    guard weights.path != source.path else { return [] }
    let present = Set(graph.nodes.map(\.layer.name))
    return weights.layers.filter { !$0.blobs.isEmpty && !present.contains($0.name) }
      .map { "'\($0.name)'" }
  }

  private mutating func noteUnusedWeights() {
    guard let weights = source.weights else { return }
    let unused = unusedLayers(weights)
    if !unused.isEmpty {
      network.notes.append("no layer uses the weights of \(firstNames(unused))")
    }
  }

  private mutating func addOutputs() throws -> [ImportedFeature] {
    try require(!graph.outputs.isEmpty, "the network has no outputs: a layer consumes every blob")
    var taken = Set(inputs.compactMap { tensors[$0.version]?.blob })
    return try graph.outputs.map { version in
      let blob = graph.versions[version].blob
      guard var tensor = tensors[version] else {
        throw ModelError(.malformed, "no layer computes output '\(blob)'")
      }
      if !taken.insert(tensor.blob).inserted {
        // A blob is an input or a single output, so this one needs a copy.
        tensor.blob = network.add(
          "\(blob)_copy", Activation(.linear(alpha: 1, beta: 0)), [tensor.blob], to: blob)
        taken.insert(tensor.blob)
        let (layer, top) = graph.producer(of: version)
        network.noteBlob(tensor.blob, top: top, of: layer)
        names.made(blob, tensor.blob, by: "copy", position: network.layers.count, replacing: nil)
        network.finish(blob, "output")
      }
      if tensor.isShapeAssumed {
        network.notes.append(
          "the shape of output '\(blob)' depends on a custom layer and is unknown")
      }
      var feature = ImportedFeature(
        name: tensor.blob, shape: FeatureLayout.shape(tensor),
        layout: FeatureLayout.letters(tensor))
      if !tensor.isShapeAssumed, tensor.rank == 5 { feature.sourceShape = tensor.shape }
      return feature
    }
  }
}
