import ByteFormats
import TensorCore

extension Model {
  /// - Throws: everything that `validate` finds, as one error.
  public func requireValid() throws { if let error = ModelError(validate()) { throw error } }

  /// - Throws: every reason not to write the model, as one error: the findings of `validate`, and
  ///   parts that Core ML accepts but that make no sense.
  package func requireWritable() throws {
    let faults = faults()
    if let error = ModelError(faults.errors + faults.doubts) { throw error }
  }

  /// Parts of a valid model that Core ML accepts or ignores, but whose predictions are probably not
  /// what the author intended.
  ///
  /// - Throws: everything that `validate` finds, as one error.
  package func doubts() throws -> [ModelError] {
    let faults = faults()
    if let error = ModelError(faults.errors) { throw error }
    return faults.doubts + unknownFieldFindings
  }

  /// Every reason why Core ML would reject the model, in file order; empty for a valid model.
  public func validate() -> [ModelError] { faults().errors }

  func faults() -> ValidationIssues {
    var faults = ValidationIssues()
    checkVersion(&faults)
    guard let description else {
      faults.require(false, "description", "the model has no description")
      return faults
    }
    if checkStore(&faults) { return faults }
    description.check(version: specificationVersion, &faults)
    switch type {
    case nil: faults.require(false, "type", "the model's type is missing")
    case .opaque(let message):
      for input in description.input where message.name == "visionFeaturePrint" {
        let isImage = if case .image? = input.type?.kind { true } else { false }
        faults.require(
          isImage, "description.input.\(input.name)", "visionFeaturePrint takes only images")
      }
    case .features(let model): model.parameters.checkModel(description, &faults)
    case .mlProgram(let program):
      description.checkOptionalInputs(&faults)
      program.check(description, &faults)
    case .pipeline(let pipeline), .pipelineClassifier(let pipeline),
      .pipelineRegressor(let pipeline):
      pipeline.check(description, isUpdatable: isUpdatable, &faults)
    case .neuralNetwork, .neuralNetworkClassifier, .neuralNetworkRegressor:
      description.checkOptionalInputs(&faults)
      if let network = neuralNetwork { check(network, description, &faults) }
    }
    return faults
  }

  /// Explains a kraken file, which has the form of a Core ML model but contains no runnable
  /// network: its layers store the weights of the network that `connectVGSLNetwork` builds.
  private func checkStore(_ faults: inout ValidationIssues) -> Bool {
    guard let specification = storedVGSLNetwork else { return false }
    faults.require(
      false, "description.metadata.vgsl",
      "a file of kraken, whose layers store the weights of the network '\(specification)' and are "
        + "not connected to one",
      hint:
        "Core ML cannot load it; Assay runs it as that network, and `assay edit` writes it as one that Core ML loads"
    )
    return true
  }

  private func checkVersion(_ faults: inout ValidationIssues) {
    let known = 1...SpecificationVersion.newest
    faults.require(
      known.contains(specificationVersion), "specificationVersion",
      "specification version \(specificationVersion) is not supported",
      hint: "versions 1 to \(SpecificationVersion.newest) are supported")
    faults.require(
      !isUpdatable || !known.contains(specificationVersion) || specificationVersion >= 4,
      "specificationVersion", "an updatable model needs version 4")
  }

  private func check(
    _ network: NeuralNetwork, _ description: ModelDescription, _ faults: inout ValidationIssues
  ) {
    var inputs: [String: [Int]] = [:]
    for feature in description.input {
      switch feature.type?.kind {
      case .image, .multiArray, nil: break
      default:
        faults.require(
          false, "description.input.\(feature.name)", "a network accepts only images and arrays")
      }
      inputs[feature.name] = feature.type?.networkShape(in: network)
    }
    network.checkRanks(of: description, &faults)
    network.checkMapping(description, &faults)
    network.checkPreprocessing(description.input, &faults)
    network.checkLayers(description, &faults)
    // An array [C] or [C, H, W] may be a sequence of any length, so nothing that depends on it can
    // be checked.
    let short = network.inferredShapes(inputs: inputs)
    let vectors = description.input.filter { feature in
      guard network.arrayInputShapeMapping == .rank5 else { return false }
      if case .multiArray(let array)? = feature.type?.kind { return array.shape.count < 5 }
      return false
    }
    // So long that no stride reduces it to a single step.
    for feature in vectors { inputs[feature.name]?[0] = 65_537 }
    let long = vectors.isEmpty ? short : network.inferredShapes(inputs: inputs)
    let shapes = short.shapes.filter { $0.value.dropFirst() == long.shapes[$0.key]?.dropFirst() }
    // Problems with parameters have already been reported.
    let named = Set(faults.errors.compactMap(\.layer))
    let alsoLong = Set(long.errors.compactMap(\.layer))
    let layers = Dictionary(first: network.layers.map { ($0.name, $0) })
    var own = ValidationIssues()
    own.append(
      short.errors.filter { error in
        guard let layer = layers[error.layer ?? ""], !named.contains(layer.name),
          alsoLong.contains(layer.name)
        else { return false }
        let isAboutSequence = layer.parameters is Reshape || layer.parameters is Concat
        return layer.input.allSatisfy {
          shapes[$0] != nil && (!isAboutSequence || short.shapes[$0] == long.shapes[$0])
        }
      })
    // The default size of a flexible input need not fit the network.
    faults.append(description.hasFlexibleInput ? own.asDoubts : own) { $0 }
    checkOutputs(network, description, shapes, &faults)
  }

  private func checkOutputs(
    _ network: NeuralNetwork, _ description: ModelDescription, _ shapes: [String: [Int]],
    _ faults: inout ValidationIssues
  ) {
    var predicted: Set<String> = []
    switch type {
    case .neuralNetworkClassifier(let classifier)?:
      predicted = [description.predictedFeatureName, description.predictedProbabilitiesName]
      classifier.check(description, shapes, &faults)
    case .neuralNetworkRegressor?:
      let name = description.predictedFeatureName
      let kind = description.output.first { $0.name == name }?.type?.kind
      let isNumber = if case .multiArray? = kind { true } else { kind == .double }
      faults.require(
        isNumber, "description.predictedFeatureName",
        name.isEmpty ? "a regressor needs one" : "'\(name)' is not a numeric output")
    default:
      for output in description.output {
        switch output.type?.kind {
        case .image, .multiArray, nil: break
        default:
          faults.require(
            false, "description.output.\(output.name)", "a network produces only images and arrays")
        }
      }
    }
    let blobs = network.blobsWritten
    let isFlexible = description.hasFlexibleInput
    for output in description.output where !predicted.contains(output.name) {
      faults.require(
        blobs.contains(output.name), "description.output.\(output.name)", "no layer produces it")
      if isFlexible { continue }
      faults.contradict(
        output, shapes[output.name], isRank5: network.arrayInputShapeMapping == .rank5,
        by: "the network")
    }
  }
}

extension NeuralNetworkClassifier {
  fileprivate func check(
    _ description: ModelDescription, _ shapes: [String: [Int]], _ faults: inout ValidationIssues
  ) {
    let count: Int
    let isString: Bool
    switch classLabels {
    case nil: return faults.require(false, "classLabels", "a classifier needs labels")
    case .string(let labels): (count, isString) = (labels.count, true)
    case .int64(let labels): (count, isString) = (labels.count, false)
    }
    faults.require(count > 0, "classLabels", "a classifier needs labels")
    let outputs = Dictionary(first: description.output.map { ($0.name, $0.type?.kind) })
    let label = description.predictedFeatureName
    faults.require(
      outputs[label] == (isString ? .string : .int64), "description.predictedFeatureName",
      "'\(label)' is not an output of the labels' type (\(isString ? "string" : "int64"))")
    let probabilities = description.predictedProbabilitiesName
    if !probabilities.isEmpty {
      let isPossible =
        switch outputs[probabilities] ?? nil {
        case .dictionary, .multiArray: true
        default: false
        }
      faults.require(
        isPossible, "description.predictedProbabilitiesName",
        "'\(probabilities)' is not an output of the dictionary type")
    }
    let blob = probabilitiesBlob
    if !labelProbabilityLayerName.isEmpty {
      faults.require(
        network.layers.contains { $0.output.contains(labelProbabilityLayerName) },
        "labelProbabilityLayerName", "no layer produces '\(labelProbabilityLayerName)'")
    }
    if count > 0, let blob, let shape = shapes[blob],
      let classes = try? checkedProduct(shape.count == 5 ? shape.dropFirst(2) : shape[...])
    {
      faults.doubt(
        unless: classes == count, "classLabels",
        "\(count) labels for the \(classes) probabilities of '\(blob)'")
    }
  }
}
