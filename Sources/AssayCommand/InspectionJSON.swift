/// The output of `inspect --json`, described in `docs/json.md`.
extension InspectionText {
  var json: JSONText {
    func features(_ features: [FeatureDescription]?) -> JSONText {
      (features ?? []).json { FeatureText(feature: $0, model: model).json }
    }
    return .versioned([
      "type": model.typeName, "specificationVersion": model.specificationVersion,
      "oldestSystem": model.oldestSystem, "inputs": features(model.description?.input),
      "outputs": features(model.description?.output),
      "preprocessing": (model.neuralNetwork?.preprocessing ?? []).map(preprocessing),
      "classLabels": model.classLabels?.strings,
      "metadata": JSONText.members(InspectionText.metadataRows(model).map { ($0.0, $0.1.json) }),
      "layers": inspection.layers.map(layer),
      "customClasses": inspection.customClasses.map(\.className),
      "customLayers": inspection.customClasses.map(custom),
      "parameters": inspection.parameterCount, "trainableParameters": inspection.trainableCount,
      "multiplyAdds": inspection.multiplyAdds, "weights": inspection.weightTypes,
      "models": model.pipelineModels.map { InspectionText($0, customLayers: customLayers).json },
    ])
  }

  private func layer(_ layer: Inspection.Layer) -> JSONText {
    [
      "name": layer.name, "type": layer.type, "inputs": layer.inputs, "outputs": layer.outputs,
      "inputShapes": layer.inputShapes, "outputShapes": layer.outputShapes,
      "attributes": JSONText.value(.object(layer.attributes)),
      "weights": layer.weights.json {
        ["name": $0.name, "shape": $0.shape, "storage": $0.values.storageName]
      }, "parameters": layer.parameterCount, "multiplyAdds": layer.multiplyAdds,
    ]
  }

  private func custom(_ custom: Inspection.CustomClass) -> JSONText {
    [
      "layer": custom.layer, "class": custom.className, "description": custom.description,
      "parameters": JSONText.members(custom.values.map { ($0.name, .value($0.value)) }),
      "weights": custom.weightCounts, "provided": custom.isProvided, "plugin": custom.plugin,
    ]
  }

  private func preprocessing(_ item: NeuralNetworkPreprocessing) -> JSONText {
    let input: JSONText = ["input": item.featureName]
    switch item.preprocessor {
    case .scaler(let scaler):
      return input + [
        "scale": scaler.channelScale, "redBias": scaler.redBias, "greenBias": scaler.greenBias,
        "blueBias": scaler.blueBias, "grayBias": scaler.grayBias,
      ]
    case .meanImage(let mean): return input + ["meanImageCount": mean.meanImage.count]
    case nil: return input
    }
  }
}
