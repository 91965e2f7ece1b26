import CoreMLModel

/// Keras' functions as Core ML layers.
enum ActivationFormula: Sendable {
  case single(Activation.Function)
  case softmax
  /// min(max(0, x), limit)
  case clipped(limit: Float)
  /// scale · (x > 0 ? x : alpha · (eˣ − 1))
  case selu
  case exponential
  /// x · sigmoid(x)
  case swish
  /// x · tanh(log(1 + eˣ))
  case mish
  /// x · min(max(x / 6 + ½, 0), 1)
  case hardSwish
  /// x − log Σ eˣ
  case logSoftmax
  /// −log(1 + e⁻ˣ)
  case logSigmoid
  /// x · Φ(x), Φ the normal distribution
  case gelu
  /// x / 2 · (1 + tanh(√(2 / π) · (x + 0.044715x³)))
  case geluTanh
  /// a · sigmoid(b), the two halves of the last axis
  case glu
  /// min(max(x, −1), 1)
  case hardTanh
  /// |x| > ½ ? x : 0
  case hardShrink
  /// x − min(max(x, −½), ½)
  case softShrink
  /// x − tanh(x)
  case tanhShrink
  /// (min(max(x, −1), 1) + 1)² / 4 + max(x − 1, 0)
  case sparsePlus
  /// (x + √(x² + 4)) / 2
  case squarePlus
  /// max(x − τ, 0) along the last axis. With the elements in falling order z and their sums c, k is
  /// the number of those with 1 + i·zᵢ > cᵢ, and τ is (Σ cᵢ of these − 1) / k, as Keras has it.
  case sparsemax

  /// Nil for a function that the version has not, and that a user may have defined by this name.
  init?(_ name: String, version: KerasVersion) {
    let isRecent = version.isTensorFlowKeras && version.isAtLeast(2, 3)
    let isKeras3 = version.isAtLeast(3, 0)
    switch name {
    case "linear": self = .single(.linear(alpha: 1, beta: 0))
    case "relu": self = .single(.relu)
    case "relu6": self = .clipped(limit: 6)
    case "tanh": self = .single(.tanh)
    case "sigmoid": self = .single(.sigmoid)
    case "hard_sigmoid":
      self = .single(.sigmoidHard(alpha: isKeras3 ? 1 / 6 : 0.2, beta: 0.5))
    case "elu": self = .single(.elu(alpha: 1))
    case "softplus": self = .single(.softplus)
    case "softsign": self = .single(.softsign)
    case "softmax": self = .softmax
    case "selu": self = .selu
    case "exponential": self = .exponential
    case "swish" where isRecent, "silu" where isRecent: self = .swish
    case "mish" where version.isAtLeast(2, 13): self = .mish
    case "leaky_relu" where isKeras3: self = .single(.leakyReLU(alpha: 0.2))
    case "hard_silu" where isKeras3, "hard_swish" where isKeras3: self = .hardSwish
    case "log_softmax" where isKeras3: self = .logSoftmax
    case "log_sigmoid" where isKeras3: self = .logSigmoid
    case "gelu" where isRecent: self = .gelu
    case "celu" where isKeras3: self = .single(.elu(alpha: 1))
    case "glu" where isKeras3: self = .glu
    case "hard_tanh" where isKeras3: self = .hardTanh
    case "hard_shrink" where isKeras3: self = .hardShrink
    case "soft_shrink" where isKeras3: self = .softShrink
    case "tanh_shrink" where isKeras3: self = .tanhShrink
    case "sparse_plus" where isKeras3: self = .sparsePlus
    case "sparse_sigmoid" where isKeras3: self = .single(.sigmoidHard(alpha: 0.5, beta: 0.5))
    case "squareplus" where isKeras3: self = .squarePlus
    case "sparsemax" where isKeras3: self = .sparsemax
    default: return nil
    }
  }

  /// - Precondition: the last axis of what `glu` takes divides into two.
  func add(to network: inout NetworkWriter, _ tensor: KerasTensor, name: String) -> KerasTensor {
    var result = tensor
    let x = tensor.blob
    switch self {
    case .single(let function):
      result.blob = network.add(name, Activation(function), [x])
    case .softmax:
      return network.withChannelAxis(tensor.rank - 1, of: [tensor], for: name) {
        network, tensors in
        var result = tensors[0]
        result.blob = network.add(name, Softmax(), [tensors[0].blob])
        return result
      }
    case .clipped(let limit):
      let relu = network.add(name, Activation(.relu), [x], to: name + "_output_relu")
      result.blob = network.addUpperLimit(limit, relu, name: name)
    case .selu:
      let elu = network.add(
        name + "__elu__", Activation(.elu(alpha: 1.6732632423543772)), [x], to: name + "_output_elu"
      )
      var scale = Multiply()
      scale.alpha = 1.0507009873554805
      result.blob = network.add(name, scale, [elu])
    case .exponential:
      var exponential = Unary()
      exponential.type = .exp
      exponential.scale = 1
      result.blob = network.add(name, exponential, [x])
    case .swish:
      let sigmoid = network.add(name + "__sigmoid__", Activation(.sigmoid), [x])
      result.blob = network.add(name, Multiply(), [x, sigmoid])
    case .mish:
      let softplus = network.add(name + "__softplus__", Activation(.softplus), [x])
      let tanh = network.add(name + "__tanh__", Activation(.tanh), [softplus])
      result.blob = network.add(name, Multiply(), [x, tanh])
    case .hardSwish:
      let gate = network.add(
        name + "__gate__", Activation(.sigmoidHard(alpha: 1 / 6, beta: 0.5)), [x])
      result.blob = network.add(name, Multiply(), [x, gate])
    case .logSigmoid:
      let minus = network.add(name + "__neg__", Activation(.linear(alpha: -1, beta: 0)), [x])
      let softplus = network.add(name + "__softplus__", Activation(.softplus), [minus])
      result.blob = network.add(name, Activation(.linear(alpha: -1, beta: 0)), [softplus])
    case .gelu: result.blob = network.addGELU(x, name: name)
    case .geluTanh:
      let cube = network.unary(.power, x, name + "__cube__", alpha: 3)
      let inner = network.sum(
        [x, network.affine(cube, 0.044715, 0, name + "__small__")], name + "__inner__")
      let tanh = network.add(
        name + "__tanh__", Activation(.scaledTanh(alpha: 1, beta: 0.7978845608)), [inner])
      let gate = network.affine(tanh, 0.5, 0.5, name + "__gate__")
      result.blob = network.product(x, gate, name)
    case .glu:
      return network.withChannelAxis(tensor.rank - 1, of: [tensor], for: name) {
        network, tensors in
        var result = tensors[0]
        let halves = network.split(result.blob, into: 2, name + "__split__")
        let gate = network.add(name + "__gate__", Activation(.sigmoid), [halves[1]])
        result.blob = network.product(halves[0], gate, name)
        result.shape[result.rank - 1] = result.shape[result.rank - 1].map { $0 / 2 }
        return result
      }
    case .hardTanh: result.blob = network.clamped(x, 1, name)
    case .hardShrink:
      let above = network.add(
        name + "__above__", Activation(.thresholdedReLU(alpha: Float(0.5).nextUp)), [x])
      let negated = network.affine(x, -1, 0, name + "__minus__")
      let below = network.add(
        name + "__below__", Activation(.thresholdedReLU(alpha: Float(0.5).nextUp)), [negated])
      result.blob = network.difference(above, below, name)
    case .softShrink:
      result.blob = network.difference(x, network.clamped(x, 0.5, name + "__clip__"), name)
    case .tanhShrink:
      let tanh = network.add(name + "__tanh__", Activation(.tanh), [x])
      result.blob = network.difference(x, tanh, name)
    case .sparsePlus:
      let clipped = network.clamped(x, 1, name + "__clip__")
      let shifted = network.affine(clipped, 0.5, 0.5, name + "__half__")
      let square = network.product(shifted, shifted, name + "__square__")
      let over = network.add(
        name + "__relu__", Activation(.relu), [network.affine(x, 1, -1, name + "__over__")])
      result.blob = network.sum([square, over], name)
    case .squarePlus:
      let square = network.product(x, x, name + "__square__")
      let root = network.unary(.sqrt, square, name + "__root__", shift: 4)
      result.blob = network.affine(
        network.sum([x, root], name + "__sum__"), 0.5, 0, name)
    case .sparsemax:
      return network.withChannelAxis(tensor.rank - 1, of: [tensor], for: name) {
        network, tensors in
        network.addSparsemax(tensors[0], name: name)
      }
    case .logSoftmax:
      return network.withChannelAxis(tensor.rank - 1, of: [tensor], for: name) {
        network, tensors in
        network.addLogSoftmax(tensors[0], name: name)
      }
    }
    return result
  }
}

extension NetworkWriter {
  /// min(max(x, −limit), limit)
  mutating func clamped(_ blob: String, _ limit: Float, _ name: String) -> String {
    let scaled = add(
      name + "__unit__", Activation(.sigmoidHard(alpha: 0.5 / limit, beta: 0.5)), [blob])
    return affine(scaled, 2 * limit, -limit, name)
  }

  /// x · Φ(x) = max(0, x) − |x| / 2 · P(t) · exp(−x² / 2) with t = 1 / (1 + 0.3275911 |x| / √2), to
  /// 1.5e-7 · |x| / 2.
  ///
  /// Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
  fileprivate mutating func addGELU(_ x: String, name: String) -> String {
    let size = unary(.abs, x, name + "__abs__")
    let denominator = affine(size, 0.3275911 / Float(2).squareRoot(), 1, name + "__denominator__")
    let t = unary(.power, denominator, name + "__t__", alpha: -1)
    let factors: [Float] = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592]
    var polynomial = affine(t, factors[0], factors[1], name + "__p0__")
    for (index, factor) in factors.dropFirst(2).enumerated() {
      let step = product(polynomial, t, "\(name)__m\(index + 1)__")
      polynomial = affine(step, 1, factor, "\(name)__p\(index + 1)__")
    }
    let square = product(x, x, name + "__square__")
    let bell = unary(
      .exp, affine(square, -0.5, 0, name + "__half__"), name + "__exp__")
    let tail = product(
      product(polynomial, t, name + "__m4__"), product(size, bell, name + "__weight__"),
      name + "__tail__")
    let relu = add(name + "__relu__", Activation(.relu), [x])
    return sum([relu, affine(tail, -0.5, 0, name + "__minus__")], name)
  }

  /// min(x, limit) = −max(−limit, −x), named as the reference does.
  mutating func addUpperLimit(_ limit: Float, _ blob: String, name: String) -> String {
    let negated = add(
      name + "__neg__", Activation(.linear(alpha: -1, beta: 0)), [blob], to: blob + "_neg")
    var threshold = Unary()
    threshold.type = .threshold
    threshold.alpha = -limit
    threshold.epsilon = 1e-6
    threshold.scale = 1
    let clipped = add(name + "__clip__", threshold, [negated], to: blob + "_clip")
    return add(
      name + "_neg2", Activation(.linear(alpha: -1, beta: 0)), [clipped], to: name + "_output")
  }

  /// - Precondition: the number of channels is known.
  fileprivate mutating func addSparsemax(_ tensor: KerasTensor, name: String) -> KerasTensor {
    let count = tensor.channels ?? 1
    var order = TopK()
    order.axis = BlobAxis.channel.blobIndex
    order.count = count
    let sorted = add(
      name + "__sorted__", order, [tensor.blob],
      outputs: [name + "__sorted__values", name + "__sorted__places"])
    var ordered = tensor
    ordered.blob = sorted[0]
    let triangle = (0..<count).flatMap { row in
      (0..<count).map { $0 <= row ? Float(1) : 0 }
    }
    let sums = channelProduct(
      ordered, Weights(triangle), inputs: count, outputs: count, name + "__sums__")
    var ranks = Scale()
    ranks.shapeScale = [count]
    ranks.scale = Weights((1...count).map { Float($0) })
    let ranked = add(name + "__ranked__", ranks, [sorted[0]])
    let margin = difference(ranked, sums.blob, name + "__margin__")
    var isAbove = GreaterThan()
    isAbove.alpha = -1
    let support = add(name + "__support__", isAbove, [margin])
    let size = reduced(.sum, .c, support, name + "__size__")
    let total = reduced(
      .sum, .c, product(sums.blob, support, name + "__supported__"), name + "__total__")
    let inverse = unary(.inverse, size, name + "__inverse__", epsilon: .leastNormalMagnitude)
    let threshold = product(
      affine(total, -1, 1, name + "__rest__"), inverse, name + "__threshold__")
    var result = tensor
    result.blob = add(
      name, Activation(.relu), [sum([tensor.blob, threshold], name + "__over__")])
    return result
  }

  /// d − log Σ exp(d) with d = x − max x, over the channels.
  fileprivate mutating func addLogSoftmax(_ tensor: KerasTensor, name: String) -> KerasTensor {
    func negated(_ blob: String, _ suffix: String, _ network: inout NetworkWriter) -> String {
      network.add(name + suffix, Activation(.linear(alpha: -1, beta: 0)), [blob])
    }
    var maximum = Reduce()
    maximum.mode = .max
    maximum.axis = .c
    let largest = add(name + "__max__", maximum, [tensor.blob])
    let difference = add(
      name + "__difference__", Add(), [tensor.blob, negated(largest, "__negmax__", &self)])
    var exponential = Unary()
    exponential.type = .exp
    exponential.scale = 1
    let exponentials = add(name + "__exp__", exponential, [difference])
    var sum = Reduce()
    sum.mode = .sum
    sum.axis = .c
    var logarithm = Unary()
    logarithm.type = .log
    logarithm.scale = 1
    let total = add(
      name + "__log__", logarithm, [add(name + "__sum__", sum, [exponentials])])
    var result = tensor
    result.blob = add(name, Add(), [difference, negated(total, "__neglog__", &self)])
    return result
  }
}
