extension Report {
  /// The interface, the graph and the layers of a model, and of the models of a pipeline.
  mutating func add(_ model: Model, customLayers: CustomLayerRegistry, of location: String = "") {
    let inspection = Inspection(model, customLayers: customLayers)
    let text = InspectionText(model, customLayers: customLayers)
    let program = ProgramGraph(model, values: true)
    let layers = program?.operations ?? inspection.layers.map { ReportedLayer($0, values: true) }
    if let graph = NetworkGraph(model, inspection) { add("Graph" + location, graph: graph) }
    add("Model" + location, .facts(text.facts.map { ($0.0, $0.1) }))
    if !layers.isEmpty {
      add((program == nil ? "Layers" : "Operations") + location, layers: layers)
    }
    for (index, member) in model.pipelineModels.enumerated() {
      add(member, customLayers: customLayers, of: location + " / " + model.pipelineName(index))
    }
  }

  /// Adds the result of each source layer, and the converter's notes.
  mutating func add(_ plan: [PlanEntry], notes: [String], facts: [(label: String, text: String)]) {
    let table = HTML.table(
      ["source layer", "class", "became"],
      plan.map { entry in
        [
          entry.layer, entry.layerClass,
          entry.becomes.isEmpty ? "nothing" : entry.becomes.joined(separator: ", "),
        ]
      })
    let lines = notes.map { "<p>\($0)</p>" as HTML }.lines()
    add("Conversion", "\(HTML.facts(facts))\(lines)\(HTML.folded(plan.count, table))")
  }
}

extension NetworkGraph {
  /// The layers between the inputs and outputs of a model, or the operations of an ML Program; nil
  /// if it has neither.
  init?(_ model: Model, _ inspection: Inspection) {
    if let program = ProgramGraph(model, values: false) {
      self.init(program.parts)
      return
    }
    guard !inspection.layers.isEmpty else { return nil }
    func feature(_ feature: FeatureDescription, _ kind: Kind) -> Node {
      Node(
        name: feature.name, kind: kind, type: FeatureText(feature: feature, model: model).typeText)
    }
    let custom = Set(inspection.customClasses.map(\.layer))
    self.init(
      (model.description?.input ?? []).map {
        Part(feature($0, .input), inputs: [], outputs: [$0.name])
      }
        + inspection.layers.enumerated().map { index, layer in
          let isCustom = custom.contains(layer.name)
          var node = Node(ReportedLayer(layer, values: false), at: index, isCustom: isCustom)
          node.type = AttributeText.typeText(layer)
          node.shape = layer.outputShapes.map(InspectionText.shapeText).joined(separator: ", ")
          return Part(node, inputs: layer.inputs, outputs: layer.outputs)
        }
        + (model.description?.output ?? []).map {
          Part(feature($0, .output), inputs: [model.blob(ofOutput: $0.name)], outputs: [])
        })
  }
}

extension Model {
  /// The blob of an output; a classifier's outputs are derived from its scores.
  fileprivate func blob(ofOutput name: String) -> String {
    let isOfClasses = [description?.predictedFeatureName, description?.predictedProbabilitiesName]
      .contains(name)
    guard isOfClasses, case .neuralNetworkClassifier(let classifier)? = type else { return name }
    return classifier.probabilitiesBlob ?? name
  }
}

extension ReportedLayer {
  /// - Parameter values: whether the values of the weights are read.
  init(_ layer: Inspection.Layer, values: Bool) {
    self.init(
      name: layer.name, type: layer.type, shape: InspectionText.shapeText(layer),
      parameterCount: layer.parameterCount, blobs: InspectionText.blobText(layer))
    multiplyAdds = layer.multiplyAdds
    fields = AttributeText.fields(layer.attributes)
    weights = layer.weights.map { weight in
      ReportedWeight(
        name: weight.name, shape: weight.shape, storage: weight.values.storageName,
        distribution: values
          ? (try? weight.decoded().array()).flatMap { ValueDistribution($0) } : nil)
    }
  }
}
