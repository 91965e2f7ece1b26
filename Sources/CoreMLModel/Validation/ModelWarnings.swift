import ByteFormats
import TensorCore

extension Model {
  /// Reasons why Core ML would reject the model, and parts that it accepts but that are probably
  /// mistakes; both in file order.
  package func findings() -> (errors: [ModelError], warnings: [ModelError]) {
    if let functions = description?.functions, !functions.isEmpty { return findings(of: functions) }
    let faults = faults()
    return (
      faults.errors, faults.doubts + unknownFieldFindings + faults.contradictions + suspicions()
    )
  }

  /// The findings of a program with each of its functions, without repetitions.
  private func findings(
    of functions: [FunctionDescription]
  ) -> (errors: [ModelError], warnings: [ModelError]) {
    var all: (errors: [ModelError], warnings: [ModelError]) = ([], [])
    for function in functions {
      do {
        var model = try selectingFunction(function.name)
        model.description?.functions = []
        let own = model.findings()
        all.errors += own.errors.filter { !all.errors.contains($0) }
        all.warnings += own.warnings.filter { !all.warnings.contains($0) }
      } catch let error as ModelError { all.errors.append(error) } catch {}
    }
    return all
  }

  private func suspicions() -> [ModelError] {
    var faults = ValidationIssues()
    warnOfVersion(&faults)
    warnOfWeights(&faults)
    if let network = neuralNetwork {
      network.warnOfUnread(description, &faults)
      network.warnOfPreprocessing(&faults)
      for (index, layer) in network.layers.enumerated() {
        var own = ValidationIssues()
        layer.warn(&own)
        faults.append(
          own.errors.map {
            $0.inLayer(layer.label(at: index), class: layer.parameters?.specificationTypeName)
          })
      }
    }
    if case .neuralNetworkClassifier(let classifier)? = type {
      classifier.warn(description, &faults)
    }
    for (index, model) in pipelineModels.enumerated() {
      faults.append(model.suspicions().map { $0.inside("pipeline.models[\(index)]") })
    }
    return faults.errors
  }

  private func warnOfVersion(_ faults: inout ValidationIssues) {
    guard (1...SpecificationVersion.newest).contains(specificationVersion) else { return }
    let demands = demands(above: specificationVersion)
    for demand in demands {
      faults.require(
        false, "specificationVersion",
        "\(specificationVersion), and \(demand.part) needs \(demand.version): it \(demand.reason)")
    }
    let needed = minimumSpecificationVersion
    faults.require(
      needed >= specificationVersion, "specificationVersion",
      "\(specificationVersion), but \(needed) is enough",
      hint: SpecificationVersion.oldestSystem(needed).map { "with it \($0) load the model" })
  }

  private func warnOfWeights(_ faults: inout ValidationIssues) {
    guard neuralNetwork != nil else { return }
    for weights in nonFiniteWeights {
      let text = "\(weights.count) of \(weights.total) values are NaN or infinite"
      faults.append([
        ModelError(
          .malformed, text, layer: weights.layer, layerClass: weights.layerClass,
          field: weights.field)
      ])
    }
  }
}

extension NeuralNetwork {
  /// Warns about blobs and inputs that nothing reads.
  fileprivate func warnOfUnread(_ description: ModelDescription?, _ faults: inout ValidationIssues)
  {
    guard let description, namesAllBlobs else { return }
    let read = Set(layers.flatMap(\.input))
    let given = read.union(description.output.map(\.name))
    for input in description.input {
      faults.require(
        read.contains(input.name), "description.input.\(input.name)", "no layer reads it")
    }
    // The classifier reads the last layer's output, its probabilities.
    for layer in layers.dropLast() where !layer.output.contains(where: given.contains) {
      faults.append([
        ModelError(
          .malformed, "no layer reads its outputs, and none is an output of the model",
          layer: layer.name, layerClass: layer.parameters?.specificationTypeName, field: "output")
      ])
    }
  }

  fileprivate func warnOfPreprocessing(_ faults: inout ValidationIssues) {
    for (index, step) in preprocessing.enumerated() {
      guard case .scaler(let scaler)? = step.preprocessor else { continue }
      faults.require(
        scaler.channelScale != 0, "preprocessing[\(index)].scaler.channelScale",
        "0: every pixel becomes the bias")
    }
  }
}

extension NeuralNetworkLayer {
  fileprivate func warn(_ faults: inout ValidationIssues) {
    faults.require(!name.isEmpty, "name", "the layer has no name")
    switch parameters {
    case let layer as Convolution: faults.warnOfZeros(layer.kernel, "weights")
    case let layer as InnerProduct: faults.warnOfZeros(layer.matrix, "weights")
    case let layer as Batchnorm:
      let variance = layer.variance?.floatValue
      let count = variance?.count { $0 < 0 } ?? 0
      faults.require(
        count == 0, "variance", "\(count) of \(variance?.count ?? 0) values are negative")
    case let layer as any RecurrentLayer: faults.warnOfConstants(layer.functions)
    default: break
    }
  }
}

extension NeuralNetworkClassifier {
  fileprivate func warn(_ description: ModelDescription?, _ faults: inout ValidationIssues) {
    let labels: [String]
    let isString: Bool
    switch classLabels {
    case .string(let names)?: (labels, isString) = (names, true)
    case .int64(let numbers)?: (labels, isString) = (numbers.map(String.init), false)
    case nil: return
    }
    var seen: Set<String> = []
    let repeated = labels.filter { !seen.insert($0).inserted }
    faults.require(
      repeated.isEmpty, "classLabels",
      "\(repeated.count) labels are repeated, '\(repeated.first ?? "")' first")
    faults.require(!seen.contains(""), "classLabels", "a label is empty")
    let name = description?.predictedProbabilitiesName ?? ""
    if let kind = description?.output.first(where: { $0.name == name })?.type?.kind {
      faults.require(
        kind == .dictionary(isString ? .string : .int64), "description.predictedProbabilitiesName",
        "'\(name)' is not a dictionary keyed by the labels' type")
    }
    if let blob = probabilitiesBlob, let source = network.valueSource(of: blob), source.givesScores
    {
      faults.require(
        false, "labelProbabilityLayerName",
        "'\(blob)' comes from layer '\(source.name)' "
          + "(\(source.parameters?.specificationTypeName ?? "")): these are not probabilities",
        hint: "a softmax usually produces them")
    }
  }
}

extension NeuralNetwork {
  /// The last layer before a blob that changes values, not only their order.
  fileprivate func valueSource(of blob: String) -> NeuralNetworkLayer? {
    var blob = blob
    for layer in layers.reversed() where layer.output.contains(blob) {
      switch layer.parameters {
      case is Flatten, is Reshape, is ReshapeStatic, is Permute, is Transpose, is Squeeze,
        is ExpandDims, is RankPreservingReshape, is FlattenTo2D:
        guard let input = layer.input.first else { return layer }
        blob = input
      default: return layer
      }
    }
    return nil
  }
}

extension NeuralNetworkLayer {
  /// Whether the layer outputs sums of products, which have no bounds.
  fileprivate var givesScores: Bool { parameters is InnerProduct || parameters is Convolution }
}

extension ValidationIssues {
  fileprivate mutating func warnOfZeros(_ weights: Weights?, _ field: String) {
    guard let values = weights?.floatValue, values.count > 0 else { return }
    require(values.contains { $0 != 0 }, field, "all \(values.count) values are 0")
  }

  /// Two functions have fixed constants in recurrent layers, which converters may omit.
  fileprivate mutating func warnOfConstants(_ activations: [Activation]) {
    for activation in activations {
      let isUsual =
        switch activation.function {
        case .scaledTanh(let alpha, let beta)?:
          (alpha, beta) == (0, 0) || abs(alpha - 1.7159) < 1e-4 && abs(beta - 2.0 / 3) < 1e-4
        case .sigmoidHard(let alpha, let beta)?:
          (alpha, beta) == (0, 0) || abs(alpha - 0.2) < 1e-6 && abs(beta - 0.5) < 1e-6
        default: true
        }
      require(
        isUsual, "activations",
        "\(activation.function.map { "\($0)" } ?? "no function") in a recurrent layer",
        hint: "Core ML computes scaledTanh(1.7159, 2/3) and sigmoidHard(0.2, 0.5) there")
    }
  }
}

extension Model {
  /// The fields of the document that this program does not know, and ignores.
  var unknownFieldFindings: [ModelError] {
    unknownFields.positions.map { position in
      var path = position.path[...]
      var (model, prefix) = (self, "")
      var error = ModelError(.malformed, "it is unknown to this version of Assay, and ignored")
      while let index = path.firstIndex(where: { $0.name == "models" }),
        let number = path[index].index,
        model.pipelineModels.indices.contains(number)
      {
        prefix += "\(model.pipelineName(number))/"
        model = model.pipelineModels[number]
        path = path[(index + 1)...]
      }
      let layers = model.neuralNetwork?.layers ?? []
      if let index = path.firstIndex(where: { $0.name == "layers" }),
        let number = path[index].index,
        layers.indices.contains(number)
      {
        error.layer = prefix + layers[number].label(at: number)
        error.layerClass = layers[number].parameters?.specificationTypeName
        // The class repeats the first step inside the layer.
        path = path[(index + 1)...]
        if path.first?.name == layers[number].parameters?.typeName { path = path.dropFirst() }
      } else {
        path = position.path[...]
      }
      error.field = (path.map(\.text) + ["field \(position.number)"]).joined(separator: ".")
      return error
    }
  }
}

extension ProtobufSkeleton.UnknownField.Step {
  fileprivate var text: String { index.map { "\(name)[\($0)]" } ?? name }
}
