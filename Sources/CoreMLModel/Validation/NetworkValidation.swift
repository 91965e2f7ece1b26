import TensorCore

extension NeuralNetwork {
  /// Whether no layer contains a nested network, which may produce blobs.
  var namesAllBlobs: Bool { !layers.contains { $0.parameters is any ControlLayer } }

  /// Checks names, blobs and parameters of the layers.
  func checkLayers(_ description: ModelDescription, _ faults: inout ValidationIssues) {
    faults.require(!layers.isEmpty, "layers", "the network has no layers")
    faults.require(
      layers.count <= Limits.layers, "layers",
      "\(layers.count) layers exceed the limit of \(Limits.layers)")
    var names: Set<String> = []
    var produced = Set(description.input.map(\.name))
    var ranks = DeclaredRanks(self, description)
    let isComplete = namesAllBlobs
    for (index, layer) in layers.enumerated() {
      var own = ValidationIssues()
      layer.check(&own)
      checkRanks(layer, &ranks, &own)
      if arrayInputShapeMapping == .rank5, description.hasArrayInput {
        own.require(
          !layer.needsExactMapping, "arrayInputShapeMapping",
          "layers of this type need EXACT_ARRAY_MAPPING")
      }
      own.require(
        layer.name.isEmpty || names.insert(layer.name).inserted, "name",
        "another layer has the same name")
      layer.checkInputs(produced, &own)
      for blob in layer.output {
        let isNew = produced.insert(blob).inserted
        // Nested networks write blobs that the enclosing network reads.
        own.require(
          isNew || !isComplete || layer.parameters is Copy,
          "output", "'\(blob)' is produced more than once")
      }
      produced.formUnion(layer.blobsWrittenInside)
      let name = layer.label(at: index)
      faults.append(own) { $0.inLayer(name, class: layer.parameters?.specificationTypeName) }
    }
  }

  /// Checks that scaling and mean images apply to image inputs.
  func checkPreprocessing(_ inputs: [FeatureDescription], _ faults: inout ValidationIssues) {
    for (index, step) in preprocessing.enumerated() {
      let field = "preprocessing[\(index)]"
      let feature = inputs.first { feature in
        if !step.featureName.isEmpty { return feature.name == step.featureName }
        if case .image? = feature.type?.kind { return true }
        return false
      }
      guard let feature, case .image(let image)? = feature.type?.kind else {
        let name = step.featureName
        faults.doubt(
          unless: false, field,
          name.isEmpty
            ? "the model has no image input"
            : feature == nil ? "input '\(name)' does not exist" : "input '\(name)' is not an image"
        )
        continue
      }
      switch step.preprocessor {
      case nil: faults.doubt(unless: false, field, "neither a scaler nor a mean image")
      case .scaler: break
      case .meanImage(let mean):
        let sizes = [image.colorSpace.channelCount, image.height, image.width]
        let count = (try? checkedProduct(sizes, limit: Limits.tensorElements)) ?? 0
        faults.require(
          mean.meanImage.count == count, field,
          "\(mean.meanImage.count) mean values for an image with \(count)")
      }
    }
  }
}

extension NeuralNetworkLayer {
  /// Checks that the blobs read by the layer, and by layers in nested networks, are in `produced`
  /// or written before.
  fileprivate func checkInputs(_ produced: Set<String>, _ faults: inout ValidationIssues) {
    for blob in input {
      faults.require(produced.contains(blob), "input", "no earlier layer produces '\(blob)'")
    }
    guard let control = parameters as? any ControlLayer else { return }
    var inside = produced
    for network in control.networks {
      // The body of a loop runs after its condition; only one of two branches runs.
      if control is Branch { inside = produced }
      for layer in network.layers {
        var own = ValidationIssues()
        layer.checkInputs(inside, &own)
        faults.appendInside(own, layer)
        inside.formUnion(layer.output)
        inside.formUnion(layer.blobsWrittenInside)
      }
    }
  }

  func check(_ faults: inout ValidationIssues) {
    faults.require(
      name.utf8.count <= Limits.nameBytes, "name", "longer than \(Limits.nameBytes) bytes")
    guard let parameters else {
      return faults.require(false, "layer", "the layer's type is missing")
    }
    if parameters is OpaqueLayer { return }
    let type = Swift.type(of: parameters)
    faults.require(
      type.inputCount.contains(input.count), "input",
      "the layer cannot have \(counted(input.count, "input"))")
    faults.require(
      type.outputCount.contains(output.count), "output",
      "the layer cannot have \(counted(output.count, "output"))")
    let alpha = (parameters as? Add)?.alpha ?? (parameters as? Multiply)?.alpha ?? 0
    faults.doubt(
      unless: alpha == 0 || input.count == 1, "alpha",
      "\(alpha) with \(counted(input.count, "input"))")
    if let split = parameters as? Split {
      faults.require(
        output.count == split.nOutputs, "nOutputs",
        "\(split.nOutputs), but the layer has \(counted(output.count, "output"))")
    }
    if let crop = parameters as? Crop {
      let amounts = crop.cropAmounts?.borderAmounts.count ?? 0
      faults.require(
        input.count == 2 || amounts == 2, "cropAmounts", "\(amounts) amounts, two are needed")
      faults.require(
        input.count == 1 || crop.offset.count == 2, "offset",
        "\(crop.offset), two offsets are needed")
    }
    if let convolution = parameters as? Convolution, input.count == 1 {
      faults.require(convolution.kernel != nil, "weights", "the values are missing")
    }
    faults.append(parameters.parameterFaults)
  }
}
