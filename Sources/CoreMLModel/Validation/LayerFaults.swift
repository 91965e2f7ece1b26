import TensorCore

extension LayerParameters {
  /// Everything about the parameters alone that no network could make right.
  var parameterFaults: [ModelError] {
    var faults = Faults()
    switch self {
    case let layer as Convolution: layer.check(&faults)
    case let layer as Pooling:
      if !layer.globalPooling {
        faults.catching { _ = try layer.effectiveSizes() }
        faults.catching { _ = try layer.explicitPadding([1, 1]) }
      }
      faults.require(
        layer.padding != nil || layer.globalPooling, "padding",
        "neither valid, same nor includeLastPixel")
    case let layer as Activation:
      faults.require(layer.function != nil, "NonlinearityType", "no function")
    case let layer as InnerProduct:
      faults.require(layer.inputChannels > 0, "inputChannels", "0")
      faults.require(layer.outputChannels > 0, "outputChannels", "0")
      faults.requireWeights(("weights", layer.matrix), ("bias", layer.bias, layer.hasBias))
    case let layer as Embedding:
      faults.require(layer.inputDim > 0, "inputDim", "0")
      faults.require(layer.outputChannels > 0, "outputChannels", "0")
      faults.requireWeights(("weights", layer.matrix), ("bias", layer.bias, layer.hasBias))
    case let layer as Batchnorm:
      faults.require(layer.channels > 0, "channels", "0")
      faults.requireWeights(("gamma", layer.gamma), ("beta", layer.beta))
      let isGiven = layer.mean != nil && layer.variance != nil
      faults.require(
        isGiven || layer.computeMeanVar, "mean", "no mean and variance, nor computeMeanVar")
    case let layer as Crop:
      faults.catching { _ = try (layer.cropAmounts ?? BorderAmounts()).resolved("cropAmounts") }
      faults.require([0, 2].contains(layer.offset.count), "offset", "\(layer.offset), two needed")
    case let layer as Padding:
      faults.require(layer.kind != nil, "PaddingType", "no kind of padding")
      faults.catching { _ = try layer.explicitPadding() }
    case let layer as Upsample: faults.catching { _ = try layer.effectiveFactors() }
    case let layer as ResizeBilinear:
      faults.catching { _ = try sizePair(layer.targetSize, 1, "targetSize") }
    case let layer as CropResize:
      faults.catching { _ = try sizePair(layer.targetSize, 1, "targetSize") }
    case let layer as Scale:
      faults.requireWeights(("scale", layer.scale), ("bias", layer.bias, layer.hasBias))
      faults.requireStretchable(layer.shapeScale, "shapeScale")
      if layer.hasBias { faults.requireStretchable(layer.shapeBias, "shapeBias") }
    case let layer as Bias:
      faults.requireWeights(("bias", layer.bias))
      faults.requireStretchable(layer.shape, "shape")
    case let layer as LoadConstant:
      faults.requireWeights(("data", layer.data))
      faults.require(layer.shape.count == 3, "shape", "\(layer.shape), three sizes are needed")
    case let layer as Reduce:
      faults.require(
        layer.mode != .argmax || ![.chw, .hw].contains(layer.axis), "axis",
        "argmax needs one axis, C, H or W")
    case let layer as Reshape:
      faults.require(
        [3, 4].contains(layer.targetShape.count), "targetShape",
        "\(layer.targetShape), three or four sizes are needed")
    case let layer as Permute:
      faults.require(
        layer.axis.sorted() == [0, 1, 2, 3], "axis", "\(layer.axis) is no order of the axes 0 to 3")
    case let layer as Split: faults.require(layer.nOutputs > 0, "nOutputs", "0")
    case let layer as ReorganizeData:
      faults.require(layer.blockSize > 1, "blockSize", "\(layer.blockSize), 2 or more is needed")
    case let layer as Slice:
      let haveOneSign = (layer.startIndex < 0) == (layer.endIndex < 0)
      faults.require(
        !haveOneSign || layer.startIndex < layer.endIndex, "endIndex",
        "\(layer.startIndex) to \(layer.endIndex) is empty")
    case let layer as SimpleRecurrent:
      faults.requireRecurrent(layer.activation.map { [$0] } ?? [], 1)
      faults.requireWeights(
        ("weightMatrix", layer.weightMatrix), ("recursionMatrix", layer.recursionMatrix))
      faults.requireWeights(("biasVector", layer.biasVector, layer.hasBiasVector))
    case let layer as GRU:
      faults.requireRecurrent(layer.activations, 2)
      faults.requireWeights(
        ("updateGateWeightMatrix", layer.updateGateWeightMatrix),
        ("resetGateWeightMatrix", layer.resetGateWeightMatrix),
        ("outputGateWeightMatrix", layer.outputGateWeightMatrix),
        ("updateGateRecursionMatrix", layer.updateGateRecursionMatrix),
        ("resetGateRecursionMatrix", layer.resetGateRecursionMatrix),
        ("outputGateRecursionMatrix", layer.outputGateRecursionMatrix))
      faults.requireWeights(
        ("updateGateBiasVector", layer.updateGateBiasVector, layer.hasBiasVectors),
        ("resetGateBiasVector", layer.resetGateBiasVector, layer.hasBiasVectors),
        ("outputGateBiasVector", layer.outputGateBiasVector, layer.hasBiasVectors))
    case let layer as UniDirectionalLSTM:
      faults.requireRecurrent(layer.activations, 3)
      faults.require(layer.weightParams != nil, "weightParams", "no weights")
      layer.weightParams?.check(&faults, "weightParams", layer.params)
    case let layer as BiDirectionalLSTM:
      faults.requireRecurrent(layer.activationsForwardLSTM, 3)
      faults.requireRecurrent(layer.activationsBackwardLSTM, 3)
      faults.require(
        layer.weightParams.count == 2, "weightParams",
        "\(layer.weightParams.count) directions, two are needed")
      for (index, weights) in layer.weightParams.enumerated() {
        weights.check(&faults, "weightParams[\(index)]", layer.params)
      }
    case let layer as Custom:
      faults.require(
        !layer.className.isEmpty, "className", "empty",
        hint: "name the class that implements the layer")
    default: break
    }
    if !(self is Custom) {
      for weights in weights { faults.catching { try weights.requireValues() } }
      faults.requireOnePrecision(weights)
    }
    return faults.errors
  }
}

extension Convolution {
  fileprivate func check(_ faults: inout Faults) {
    faults.require(outputChannels > 0, "outputChannels", "0")
    faults.require(kernelChannels > 0, "kernelChannels", "0")
    faults.catching { _ = try effectiveSizes() }
    faults.require(
      padding != nil || isDeconvolution && !outputShape.isEmpty, "padding", "neither valid nor same"
    )
    if case .valid(let valid) = padding, let amounts = valid.paddingAmounts {
      faults.catching { _ = try amounts.resolved("valid.paddingAmounts") }
    }
    faults.require(
      [0, 2].contains(outputShape.count), "outputShape", "\(outputShape), two sizes are needed")
    faults.require(
      outputChannels % max(1, effectiveGroups) == 0, "nGroups",
      "\(outputChannels) output channels cannot be split into \(effectiveGroups) groups")
    faults.requireWeights(("bias", bias, hasBias))
  }
}

extension LSTMWeights {
  fileprivate func check(_ faults: inout Faults, _ path: String, _ params: LSTMParameters?) {
    let params = params ?? LSTMParameters()
    faults.requireWeights(
      ("\(path).inputGateWeightMatrix", inputGateWeightMatrix),
      ("\(path).forgetGateWeightMatrix", forgetGateWeightMatrix),
      ("\(path).blockInputWeightMatrix", blockInputWeightMatrix),
      ("\(path).outputGateWeightMatrix", outputGateWeightMatrix),
      ("\(path).inputGateRecursionMatrix", inputGateRecursionMatrix),
      ("\(path).forgetGateRecursionMatrix", forgetGateRecursionMatrix),
      ("\(path).blockInputRecursionMatrix", blockInputRecursionMatrix),
      ("\(path).outputGateRecursionMatrix", outputGateRecursionMatrix))
    faults.requireWeights(
      ("\(path).inputGateBiasVector", inputGateBiasVector, params.hasBiasVectors),
      ("\(path).forgetGateBiasVector", forgetGateBiasVector, params.hasBiasVectors),
      ("\(path).blockInputBiasVector", blockInputBiasVector, params.hasBiasVectors),
      ("\(path).outputGateBiasVector", outputGateBiasVector, params.hasBiasVectors),
      ("\(path).inputGatePeepholeVector", inputGatePeepholeVector, params.hasPeepholeVectors),
      ("\(path).forgetGatePeepholeVector", forgetGatePeepholeVector, params.hasPeepholeVectors),
      ("\(path).outputGatePeepholeVector", outputGatePeepholeVector, params.hasPeepholeVectors))
  }
}

/// Errors that are gathered rather than thrown.
struct Faults {
  private(set) var errors: [ModelError] = []

  mutating func require(
    _ condition: Bool, _ field: String, _ message: @autoclosure () -> String,
    hint: String? = nil
  ) {
    if !condition { errors.append(ModelError(.malformed, message(), field: field, hint: hint)) }
  }

  mutating func catching(_ body: () throws -> Void) {
    do { try body() } catch let error as ModelError { errors.append(error) } catch {
      errors.append(ModelError(.internal, "\(error)"))
    }
  }

  mutating func requireWeights(_ fields: (String, Weights?)...) {
    for (name, weights) in fields { require(weights != nil, name, "no values") }
  }

  mutating func requireWeights(_ matrix: (String, Weights?), _ bias: (String, Weights?, Bool)) {
    requireWeights(matrix)
    requireWeights(bias)
  }

  mutating func requireWeights(_ optional: (String, Weights?, Bool)...) {
    for (name, weights, isNeeded) in optional {
      require(weights != nil || !isNeeded, name, "no values")
    }
  }

  mutating func requireStretchable(_ shape: [Int], _ field: String) {
    require(
      [1, 3].contains(shape.count), field, "\(shape), one or three sizes are needed",
      hint: "[1], [C], [1, H, W] and [C, H, W] are possible")
  }

  /// Recurrent layers know six functions, two of them with fixed constants, which writers may
  /// leave out.
  mutating func requireRecurrent(_ activations: [Activation], _ count: Int) {
    require(
      activations.count == count, "activations",
      "\(activations.count) functions, where \(count) are needed")
    for activation in activations {
      let isPossible =
        switch activation.function {
        case .linear, .sigmoid, .tanh, .relu: true
        case .scaledTanh(let alpha, let beta):
          (alpha, beta) == (0, 0) || abs(alpha - 1.7159) < 1e-4 && abs(beta - 2.0 / 3) < 1e-4
        case .sigmoidHard(let alpha, let beta):
          (alpha, beta) == (0, 0) || abs(alpha - 0.2) < 1e-6 && abs(beta - 0.5) < 1e-6
        default: false
        }
      require(
        isPossible, "activations",
        "\(activation.function.map { "\($0)" } ?? "no function") in a recurrent layer",
        hint: "linear, sigmoid, tanh, ReLU, scaledTanh(1.7159, 2/3) and sigmoidHard(0.2, 0.5) "
          + "are possible")
    }
  }

  /// All weights of a layer are full precision, or all half, or all quantised.
  mutating func requireOnePrecision(_ weights: [NamedWeights]) {
    let kinds = weights.filter { $0.values.storedCount > 0 }.map { weight in
      weight.values.floatValue.count > 0
        ? "full" : weight.values.float16Value.count > 0 ? "half" : "quantised"
    }
    let names = Set(kinds).sorted()
    require(
      !names.contains("half") || names.count == 1, "weights",
      "\(names.joined(separator: " and ")) precision in one layer")
  }
}
