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
    default: return nil
    }
  }

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
