import CoreMLModel
import ImportSupport
import TensorCore

/// One conversion of a model, node by node.
package struct KerasConversion: SourceConversion {
  private let source: KerasSource
  private(set) var options: ConversionOptions
  private(set) var graph: KerasGraph
  private let files: PythonFiles
  private let formats: [LayerConfiguration.DataFormat]
  var handlers: [NodeConversion?] = []
  private var weights: [ObjectIdentifier: [StoredWeight]] = [:]
  /// The outputs of each node; nil until it is converted.
  private(set) var tensors: [[KerasTensor]?]
  /// The blobs of the model's state outputs, by recurrent node.
  private var states: [Int: [String]] = [:]
  private var problems: [ModelError] = []
  /// The reasons why layers have no handler, by layer index.
  private var refusals: [Int: ModelError] = [:]
  /// Nodes whose shapes depend on the assumed shape of another node.
  private var guesses: [Int: Int] = [:]
  var network: KerasWriter
  package var plan: [PlanEntry] { network.plan }

  package init(_ source: KerasSource, _ options: ConversionOptions) throws {
    self.source = source
    graph = try KerasGraph(
      source.definition, isOrdered: source.definition.removesMasks(source.version))
    var notes: [String] = []
    self.options = graph.naming(options, notes: &notes)
    formats = DataFormats(graph).preferred
    files = try source.files ?? PythonFiles(options.layerSources)
    tensors = [[KerasTensor]?](repeating: nil, count: graph.nodes.count)
    network = KerasWriter(
      version: source.version, rules: options.customLayers,
      maximumVersion: options.maximumVersion ?? SpecificationVersion.newest,
      resetsAfter: options.resetsAfter, onVisit: options.onVisit)
    network.notes = notes
    network.numberedFromZero = source.version.numberedFromZero.filter(
      Set(graph.nodes.map(\.name)).contains)
  }

  package mutating func run() throws -> ImportedNetwork {
    chooseHandlers()
    var imported = ImportedNetwork(source: source.version.description)
    do {
      do { try assignWeights() } catch  where options.isPlan { nameWeights() }
      imported.inputs = try addInputs()
    } catch {
      // Errors of unsupported layers take precedence over errors that follow from them.
      throw UnsupportedLayers.error(problems) ?? error
    }
    for index in graph.nodes.indices where tensors[index] == nil { convert(index) }
    options = graph.outputs(of: source.definition, tensors, options, notes: &network.notes)
    if source.weights != nil { network.notes += graph.notes(on: source.version) }
    if let error = UnsupportedLayers.error(problems) { throw error }
    imported.outputs = try addOutputs()
    if network.fixesSequences {
      for (position, index) in graph.inputs.enumerated() {
        guard let tensor = tensors[index]?.first else { continue }
        imported.inputs[position].shape = FeatureShape.fixed(
          imported.inputs[position].shape, tensor)
      }
    }
    imported.layers = network.layers
    for tensor in tensors.lazy.compactMap({ $0 }).joined() {
      imported.blobLayouts[tensor.blob] =
        imported.blobLayouts[tensor.blob] ?? tensor.layout.letters(isImage: true)
    }
    imported.sourceBlobs = graph.sourceBlobs(
      tensors, states: states, outputs: imported.outputs.map(\.name))
    imported.trainableParameterCount = source.weights == nil ? nil : trainableParameters
    // The states are appended under their own names.
    try imported.rename(
      inputs: Array(options.inputNames.prefix(imported.inputs.count)),
      outputs: Array(options.outputNames.prefix(imported.outputs.count)))
    imported.inputs += network.stateInputs.map { .state($0.blob, units: $0.units, isInput: true) }
    imported.outputs += network.stateOutputs.map {
      .state($0.blob, units: $0.units, isInput: false)
    }
    return imported
  }

  private mutating func chooseHandlers() {
    var known: [Int: NodeConversion] = [:]
    var failed: Set<Int> = []
    for node in graph.nodes {
      let layer = node.layer
      let subject = CustomLayerSubject(
        layer: node.name, layerClass: layer.className,
        function: layer.className == "Lambda" ? LambdaFunction.name(in: layer.fields) : nil)
      guard node.isNeeded else {
        handlers.append(nil)
        continue
      }
      if !layer.isInput, let rule = options.customLayers.rule(for: subject, layer) {
        handlers.append(.custom(CustomConversion(layer: layer, subject: subject, rule: rule)))
        continue
      }
      guard known[node.layerIndex] == nil, !failed.contains(node.layerIndex) else {
        handlers.append(known[node.layerIndex])
        continue
      }
      do {
        let handler = try handler(layer, subject, inputCount: node.inputs.count)
        if let handler { known[node.layerIndex] = handler } else { failed.insert(node.layerIndex) }
        handlers.append(handler)
      } catch {
        let problem = (error as? ModelError ?? ModelError(.internal, "\(error)")).inLayer(node.name)
        problems.append(problem)
        refusals[node.layerIndex] = problem
        failed.insert(node.layerIndex)
        handlers.append(nil)
      }
    }
  }

  func handler(
    _ layer: ModelDefinition.Layer, _ subject: CustomLayerSubject, inputCount: Int
  ) throws -> NodeConversion? {
    if let source = try files.source(of: layer) {
      return .python(PythonConversion(source, subject, options.customLayers))
    }
    if source.definition.isSubclassed, !layer.isInput {
      throw ModelDefinition.needsCode(layer.className)
    }
    if let type = layer.type {
      do {
        return .known(try layer.configuration(subject.layer, source.version).layer(type))
      } catch  where layer.isForeign && options.customLayers.allowsAll {}
    }
    var reading: Result<PythonFormula, ModelError>?
    if layer.className == "Lambda" {
      reading = LambdaFunction.reading(of: layer.fields, inputCount: inputCount)
      if options.readsFormulas,
        let python = PythonConversion(layer, subject, reading, inputCount, options.customLayers)
      {
        return .python(python)
      }
    } else if options.readsFormulas, let rule = try FormulaClasses.rule(for: subject, layer) {
      return .custom(CustomConversion(layer: layer, subject: subject, rule: rule, isAssumed: true))
    }
    guard options.customLayers.allowsAll else {
      throw UnsupportedLayers.error(
        for: subject, reading: reading, readsFormulas: options.readsFormulas,
        searched: options.layerSources)
    }
    return .custom(CustomConversion(layer: layer, subject: subject, rule: nil))
  }

  private mutating func assignWeights() throws {
    guard let stored = source.weights else {
      if options.missingWeights != nil { return nameWeights() }
      throw ModelError(
        .mismatch, "the architecture has no weights",
        hint: "add the weights file (.h5) after it")
    }
    var slots: [ObjectIdentifier: [WeightSlot]?] = [:]
    for (node, handler) in zip(graph.nodes, handlers) {
      let key = ObjectIdentifier(node.layer)
      if slots[key] == nil { slots[key] = .some(handler?.slots(node.layer.fields, source.version)) }
    }
    let assignment = try inFile(source.weightsPath ?? source.path) {
      try stored.assignment(to: source.definition) {
        // Inputs of nested models have no nodes.
        $0.isInput ? [] : slots[ObjectIdentifier($0)] ?? nil
      }
    }
    weights = assignment.weights
    network.notes += assignment.notes
    if let path = source.weightsPath {
      let layers = weights.values.filter { !$0.isEmpty }
      network.notes.append(
        "\(layers.reduce(0) { $0 + $1.count }) weights of \(layers.count) layers come from \(path), "
          + "matched \(assignment.method)")
    }
  }

  /// Gives every layer its weights' names, without values.
  private mutating func nameWeights() {
    for (node, handler) in zip(graph.nodes, handlers) {
      weights[ObjectIdentifier(node.layer)] =
        (handler?.slots(node.layer.fields, source.version) ?? []).map { slot in
          StoredWeight(name: slot.name, storedName: slot.name, shape: []) {
            throw ModelError(.mismatch, "the architecture has no weights")
          }
        }
    }
  }

  mutating func convert(_ index: Int) {
    let node = graph.nodes[index]
    guard let handler = handlers[index] else {
      if options.isPlan, node.isNeeded, let error = refusals[node.layerIndex] {
        refuse(index, error, node.inputs.compactMap { tensors[$0.node]?.first })
      }
      return
    }
    var inputs: [KerasTensor] = []
    for input in node.inputs {
      guard let outputs = tensors[input.node] else { return }
      guard input.tensor < outputs.count else {
        problems.append(
          ModelError(
            .malformed,
            "it reads output \(input.tensor) of '\(graph.nodes[input.node].name)', which has \(outputs.count)",
            layer: node.name, layerClass: node.layer.className))
        return
      }
      inputs.append(outputs[input.tensor])
      if let cause = guesses[input.node] { guesses[index] = cause }
    }
    do { try stateMasks(node, &inputs) } catch {
      problems.append(error)
      return
    }
    let call = LayerCall(
      name: node.name, className: node.layer.className, inputs: inputs, version: source.version,
      weights: weights[ObjectIdentifier(node.layer)] ?? [], preferredImage: formats[index],
      weightsPath: source.weightsPath,
      missingWeights: source.weights == nil || options.isPlan ? options.missingWeights : nil,
      arguments: node.arguments, isMaskPassed: !node.masks.isEmpty)
    var text = handler.formula
    let stateCount = network.stateOutputs.count
    do {
      switch handler {
      case .known(let layer):
        if !layer.type.vanishes { network.visit(node.name, node.layer.className) }
        let outputs = try call.outputs(
          of: layer, node.layer.configuration(node.name, source.version), into: &network)
        let policy = node.layer.keepsMask ? .passes : layer.type.maskPolicy
        tensors[index] = policy.applied(to: outputs, of: inputs, source.version)
        for input in node.inputs where source.version.removesMasks(node.layer.className) {
          tensors[input.node]?[input.tensor].mask = nil
        }
      case .python(let python):
        try call.requireNoLeadingAxes()
        network.visit(node.name, node.layer.className + (text.map { ", \($0)" } ?? ""))
        let converted = try python.convert(
          call, outputCount: node.outputCount, shapes: options.customLayerShapes, into: &network)
        (tensors[index], text) = (converted.outputs, converted.text ?? text)
        for position in converted.unmasked {
          tensors[node.inputs[position].node]?[node.inputs[position].tensor].mask = nil
        }
      case .custom(let custom):
        try call.requireNoLeadingAxes()
        network.visit(node.name, node.layer.className)
        tensors[index] = try custom.convert(
          call, outputCount: node.outputCount, shapes: options.customLayerShapes, into: &network)
      }
      if tensors[index]?.contains(where: \.isShapeAssumed) == true {
        guesses[index] = guesses[index] ?? index
        if options.isPlan { tensors[index] = tensors[index]?.map(\.assumed) }
      }
      try network.requireRanks(call)
      try call.requireSizes(of: tensors[index] ?? [])
      states[index] = network.stateOutputs.dropFirst(stateCount).map(\.blob)
      network.finish(
        node.name, node.layer.className + (text.map { ", \($0)" } ?? ""),
        isTrainable: node.layer.isTrainable)
    } catch {
      tensors[index] = nil
      network.forget()
      let cause = guesses[index].map { (graph.nodes[$0].name, graph.nodes[$0].layer.className) }
      let problem = (error as? ModelError ?? ModelError(.internal, "\(error)"))
        .inLayer(node.name, class: node.layer.className).caused(by: cause)
      problems.append(problem)
      if options.isPlan { refuse(index, problem, inputs) }
    }
  }

  /// Records in the plan why a node is not converted, and lets it pass on its first input.
  private mutating func refuse(_ index: Int, _ error: ModelError, _ inputs: [KerasTensor]) {
    let node = graph.nodes[index]
    var refusal = LayerRefusal(error, node.layer, weights[ObjectIdentifier(node.layer)] ?? [])
    refusal.isOpen = guesses[index] != nil && refusals[node.layerIndex] == nil
    guesses[index] = guesses[index] ?? index
    network.refuse(node.name, node.layer.className, refusal)
    guard var result = inputs.first else { return }
    result.mask = nil
    tensors[index] = [KerasTensor](repeating: result, count: node.outputCount)
  }

  private mutating func addInputs() throws -> [ImportedFeature] {
    try require(!graph.inputs.isEmpty, "the model has no inputs")
    // Inputs of embeddings are sequences of indices.
    let indices = Set(
      graph.nodes.filter { EmbeddingLayer.isLookup($0.layer) }.flatMap { $0.inputs.map(\.node) })
    return try graph.inputs.enumerated().map { position, index in
      let node = graph.nodes[index]
      let name = options.inputNames[position]
      let shape = try InputShape(
        declared: node.layer.declaredShape, requested: options.inputShapes[name], name: name,
        layer: node.name)
      network.batches.insert(shape.batch)
      let layout = try shape.layout(formats[index], isIndices: indices.contains(index))
      let blob = network.reserve("input\(position + 1)")
      let tensor = KerasTensor(blob: blob, shape: shape.sizes, layout: layout)
      tensors[index] = [tensor]
      network.visit(node.name, node.layer.className)
      network.finish(node.name, node.layer.className)
      var feature = ImportedFeature(
        name: blob, shape: try FeatureShape.input(tensor, name: name, layer: node.name),
        layout: layout.letters(isImage: shape.sizes.count >= 4))
      feature.sourceShape = shape.sizes
      feature.hasIntegers = node.layer.fields["dtype"]?.string?.contains("int") == true
      return feature
    }
  }

  private mutating func addOutputs() throws -> [ImportedFeature] {
    var taken = Set(graph.inputs.compactMap { tensors[$0]?.first?.blob })
      .union(network.stateOutputs.map(\.blob))
    return try graph.outputs.enumerated().map { position, reference in
      let node = graph.nodes[reference.node]
      guard let outputs = tensors[reference.node], reference.tensor < outputs.count else {
        throw ModelError(
          .malformed, "no layer computes output \(position + 1) of the model", layer: node.name,
          layerClass: node.layer.className)
      }
      var tensor = outputs[reference.tensor]
      try tensor.requireAllAxes(ofOutput: position, node)
      tensor = network.standard(tensor, for: "")
      if !taken.insert(tensor.blob).inserted {
        // A blob can be only one input or output, so this output gets a copy.
        tensor.blob = network.add(
          "\(node.name)_copy\(position + 1)", Activation(.linear(alpha: 1, beta: 0)),
          [tensor.blob])
        taken.insert(tensor.blob)
        network.finish(node.name, node.layer.className)
      }
      if tensor.isShapeAssumed {
        network.notes.append(
          "the shape of output \(position + 1) depends on a custom layer, which is assumed to keep "
            + "its input's: \(tensor.shapeText)")
      }
      var feature = ImportedFeature(
        name: tensor.blob, shape: FeatureShape.output(tensor),
        layout: tensor.layout.letters(isImage: tensor.rank >= 4))
      feature.sourceShape = tensor.shape
      return feature
    }
  }

  private var trainableParameters: Int {
    var slots: [Int: [WeightSlot]?] = [:]
    for (node, handler) in zip(graph.nodes, handlers) {
      slots[node.layerIndex] = handler?.slots(node.layer.fields, source.version)
    }
    var count = 0
    for (index, layer) in graph.layers.enumerated() where layer.isTrainable {
      let known = slots[index] ?? nil
      for (position, weight) in (weights[ObjectIdentifier(layer)] ?? []).enumerated()
      where known.map({ position < $0.count && $0[position].isTrainable }) ?? true {
        count += weight.shape.reduce(1, *)
      }
    }
    return count
  }
}
