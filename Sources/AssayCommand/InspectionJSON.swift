/// The output of `inspect --json`: `docs/json.md` describes it.
struct InspectionJSON {
  let model: Model
  let inspection: Inspection
  let customLayers: CustomLayerRegistry

  init(_ model: Model, customLayers: CustomLayerRegistry) {
    self.model = model
    self.customLayers = customLayers
    inspection = Inspection(model, customLayers: customLayers)
  }

  var json: JSONText {
    func features(_ features: [FeatureDescription]?) -> JSONText {
      .array((features ?? []).map { FeatureText(feature: $0, model: model).json })
    }
    return .versioned([
      "type": .string(model.typeName), "specificationVersion": .int(model.specificationVersion),
      "oldestSystem": .optional(model.oldestSystem), "inputs": features(model.description?.input),
      "outputs": features(model.description?.output),
      "preprocessing": .array((model.neuralNetwork?.preprocessing ?? []).map(preprocessing)),
      "classLabels": model.classLabels.map { .strings($0.strings) } ?? .null,
      "metadata": .members(InspectionText.metadataRows(model).map { ($0.0, .string($0.1)) }),
      "layers": .array(inspection.layers.map(layer)),
      "customClasses": .strings(inspection.customClasses.map(\.className)),
      "customLayers": .array(inspection.customClasses.map(custom)),
      "parameters": .int(inspection.parameterCount),
      "trainableParameters": inspection.trainableCount.map(JSONText.int) ?? .null,
      "multiplyAdds": .int(inspection.multiplyAdds), "weights": .strings(inspection.weightTypes),
      "models": .array(
        model.pipelineModels.map { InspectionJSON($0, customLayers: customLayers).json }),
    ])
  }

  private func layer(_ layer: Inspection.Layer) -> JSONText {
    func shape(_ shape: [Int]?) -> JSONText { shape.map(JSONText.ints) ?? .null }
    return .object([
      "name": .string(layer.name), "type": .string(layer.type), "inputs": .strings(layer.inputs),
      "outputs": .strings(layer.outputs), "inputShapes": .array(layer.inputShapes.map(shape)),
      "outputShapes": .array(layer.outputShapes.map(shape)),
      "attributes": .value(.object(layer.attributes)),
      "weights": .list(layer.weights) { weight in
        .object([
          "name": .string(weight.name), "shape": .ints(weight.shape),
          "storage": .optional(weight.values.storageName),
        ])
      }, "parameters": .int(layer.parameterCount), "multiplyAdds": .int(layer.multiplyAdds),
    ])
  }

  private func custom(_ custom: Inspection.CustomClass) -> JSONText {
    .object([
      "layer": .string(custom.layer), "class": .string(custom.className),
      "description": .string(custom.description),
      "parameters": .members(custom.values.map { ($0.name, .value($0.value)) }),
      "weights": .ints(custom.weightCounts), "provided": .bool(custom.isProvided),
      "plugin": .optional(custom.plugin),
    ])
  }

  private func preprocessing(_ item: NeuralNetworkPreprocessing) -> JSONText {
    var pairs: [(String, JSONText)] = [("input", .string(item.featureName))]
    switch item.preprocessor {
    case .scaler(let scaler):
      pairs += [
        ("scale", .float(scaler.channelScale)), ("redBias", .float(scaler.redBias)),
        ("greenBias", .float(scaler.greenBias)), ("blueBias", .float(scaler.blueBias)),
        ("grayBias", .float(scaler.grayBias)),
      ]
    case .meanImage(let mean): pairs.append(("meanImageCount", .int(mean.meanImage.count)))
    case nil: break
    }
    return .members(pairs)
  }
}
