import CoreMLModel
import ImportSupport
import TensorCore

extension KerasLayerRegistry {
  static let keras1Types: [any KerasLayer.Type] = [
    ParametricSoftplus.self, SReLU.self, Highway.self, MaxoutDense.self,
  ]
}

extension KerasWriter {
  /// A constant with one value per element of an item, in the form that `Scale` and `Bias` take,
  /// and the tensor in a matching layout. The constant has length 1 along shared axes.
  mutating func itemConstant(
    _ values: FloatValues, for tensor: KerasTensor, _ call: LayerCall
  ) throws -> (tensor: KerasTensor, shape: [Int], values: FloatValues) {
    let axes = Array(1..<tensor.rank)
    try call.require(
      axes.count <= 3,
      unsupported: "one constant per element of its input \(tensor.shapeText) is not supported")
    let reducible = try ReducibleAxes(axes, of: tensor, call)
    return (
      relaid(tensor, to: reducible.layout, for: call.name), reducible.constantShape(values.shape),
      values
    )
  }
}

/// Keras 1's alpha · log(1 + exp(beta · x)), with one alpha and one beta per element.
enum ParametricSoftplus: KerasLayer {
  static let classes = [SourceLayer](
    "ParametricSoftplus", becomes: "activation parametricSoftplus; scale, softplus, scale")

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    conversion([WeightSlot("alphas"), WeightSlot("betas")]) { call, network in
      let input = network.standard(try call.input, for: call.name)
      let shape: [Int?] = (1..<input.rank).map { input.isShapeAssumed ? nil : input.shape[$0] }
      let alphas = try call.weight("alphas", shape)
      let betas = try call.weight("betas", shape)
      var result = input
      if input.layout == .vector {
        result.blob = network.add(
          call.name,
          Activation(.parametricSoftplus(alpha: Weights(alphas), beta: Weights(betas))),
          [input.blob])
        return [result]
      }
      let (tensor, constantShape, values) = try network.itemConstant(betas, for: input, call)
      func scaled(_ blob: String, _ factors: FloatValues, _ name: String) -> String {
        network.add(name, Scale(Weights(factors), constantShape), [blob])
      }
      let inner = scaled(tensor.blob, values, call.name + "__beta__")
      let softplus = network.add(call.name + "__softplus__", Activation(.softplus), [inner])
      result = tensor
      result.blob = scaled(softplus, alphas, call.name)
      return [network.relaid(result, to: input.layout, for: call.name + "_back")]
    }
  }
}

/// Keras 1's activation(x · W + b) ∘ t + x ∘ (1 − t) with t = sigmoid(x · W_carry + b_carry).
enum Highway: KerasLayer {
  static let classes = [SourceLayer](
    "Highway", becomes: "two innerProducts, a sigmoid and a weighted sum", options: "`bias`")

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let hasBias = try configuration.bool("bias", default: true)
    let activation = try ActivationFunction(configuration)
    return conversion(
      (["W", "W_carry"] + (hasBias ? ["b", "b_carry"] : [])).map { WeightSlot($0) }
    ) { call, network in
      let input = network.relaid(try call.input, to: .vector, for: call.name)
      guard input.rank == 2 else {
        throw call.error("its input \(input.shapeText) is not a vector")
      }
      let size = input.isShapeAssumed ? nil : input.channels
      func product(_ suffix: String, _ name: String) throws -> KerasTensor {
        let matrix = try call.weight("W" + suffix, [size, size])
        let count = matrix.shape[0]
        let bias = hasBias ? Weights(try call.weight("b" + suffix, [count])) : nil
        return network.channelProduct(
          input, Weights(matrix.transposed([1, 0])), inputs: count, outputs: count, bias: bias, name
        )
      }
      let carried = try product("_carry", call.name + "__carry__")
      let gate = network.add(call.name + "__gate__", Activation(.sigmoid), [carried.blob])
      let made = try network.activate(activation, product("", call.name + "__made__"), call)
      let change = network.difference(made.blob, input.blob, call.name + "__change__")
      return [
        input.with(
          network.sum(
            [input.blob, network.product(gate, change, call.name + "__kept__")], call.name))
      ]
    }
  }
}

/// Keras 1's maximum over several products x · W + b.
enum MaxoutDense: KerasLayer {
  static let classes = [SourceLayer](
    "MaxoutDense", becomes: "innerProduct, split, max", options: "`nb_feature`, `bias`")

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let outputs = try configuration.int("output_dim")
    let features = try configuration.int("nb_feature", default: 4)
    let hasBias = try configuration.bool("bias", default: true)
    return conversion(WeightSlot.named("W", hasBias ? "b" : nil)) { call, network in
      let input = network.relaid(try call.input, to: .vector, for: call.name)
      guard input.rank == 2 else {
        throw call.error("its input \(input.shapeText) is not a vector")
      }
      let stored = try call.weight(
        "W", [features, input.isShapeAssumed ? nil : input.channels, outputs])
      let inputs = stored.shape[1]
      let rows = try checkedProduct([features, outputs], limit: Limits.dimension)
      let bias = hasBias ? Weights(try call.weight("b", [features, outputs])) : nil
      let products = network.matrixProduct(
        input.blob, Weights(stored.transposed([0, 2, 1])), inputs: inputs, outputs: rows,
        bias: bias,
        call.name + "__products__")
      var result = input
      result.shape[1] = outputs
      result.blob =
        features == 1
        ? products
        : network.add(
          call.name, Max(), network.split(products, into: features, call.name + "__features__"))
      return [result]
    }
  }
}

/// Keras 1's piecewise linear function with three pieces, with parameters per element.
enum SReLU: KerasLayer {
  static let classes = [SourceLayer](
    "SReLU", becomes: "a sum of three scaled rectifiers", options: "`shared_axes`")

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let sharedAxes = try configuration.ints("shared_axes") ?? []
    return conversion(["t_left", "a_left", "t_right", "a_right"].map { WeightSlot($0) }) {
      call, network in
      let input = network.standard(try call.input, for: call.name)
      func weight(_ name: String) throws -> FloatValues {
        try call.elementWeight(name, of: input, sharedAxes: sharedAxes)
      }
      let (left, leftSlope) = try (weight("t_left"), weight("a_left"))
      let (span, rightSlope) = try (weight("t_right"), weight("a_right"))
      let right = FloatValues(
        try zip(left.array(), span.array()).map { $0 + abs($1) }
      ).shaped(left.shape)
      let (tensor, constantShape, _) = try network.itemConstant(left, for: input, call)
      func bias(_ blob: String, _ values: FloatValues, _ sign: Float, _ name: String) throws
        -> String
      {
        network.add(name, Bias(Weights(try values.map { sign * $0 }), constantShape), [blob])
      }
      func scaled(_ blob: String, _ factors: FloatValues, _ name: String) throws -> String {
        // The part beyond the threshold gets slope a instead of 1.
        let slopes = Weights(try factors.map { $0 - 1 })
        return network.add(name, Scale(slopes, constantShape), [blob])
      }
      let name = call.name
      let over = try network.add(
        name + "__over__", Activation(.relu), [bias(tensor.blob, right, -1, name + "__right__")])
      let negated = try network.affine(
        bias(tensor.blob, left, -1, name + "__left__"), -1, 0, name + "__neg__")
      let under = network.affine(
        network.add(name + "__under__", Activation(.relu), [negated]), -1, 0, name + "__below__")
      var result = tensor
      result.blob = try network.sum(
        [
          tensor.blob, scaled(over, rightSlope, name + "__rightslope__"),
          scaled(under, leftSlope, name + "__leftslope__"),
        ], name)
      return [network.relaid(result, to: input.layout, for: name + "_back")]
    }
  }
}
