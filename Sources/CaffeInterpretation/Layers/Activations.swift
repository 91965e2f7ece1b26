import Interpretation
import LibC

extension CaffeOperations {
  /// `relu_layer.cpp`, `elu_layer.cpp`, `bnll_layer.cpp` and so on: elementwise functions.
  static let activations: [String: CaffeOperation] = [
    "ReLU": .each { layer in
      let slope = try layer.settings("relu_param").number("negative_slope")
      return { max($0, 0) + slope * min($0, 0) }
    },
    "ReLU6": .each { layer in
      let limit = try layer.settings("relu6_param").number("threshold", default: 6)
      return { min(max($0, 0), limit) }
    },
    "ELU": .each { layer in
      let alpha = try layer.settings("elu_param").number("alpha")
      return { $0 > 0 ? $0 : alpha * expm1($0) }
    },
    // selu_layer.cpp of commit 3866af4.
    "SeLu": selu, "SeLU": selu, "SELU": selu,
    "Sigmoid": .each { _ in sigmoid },
    "TanH": .each { _ in { tanh($0) } },
    "BNLL": .each { _ in bnll },
    "AbsVal": .each { _ in { abs($0) } },
    "Mish": .each { _ in { $0 * tanh(bnll($0)) } },
    "Swish": .each { layer in
      let beta = try layer.settings("swish_param").number("beta")
      return { $0 * sigmoid(beta * $0) }
    },
    "Threshold": .each { layer in
      let threshold = Double(Float(try layer.settings("threshold_param").number("threshold")))
      return { $0 > threshold ? 1 : 0 }
    },
    "Clip": .each { layer in
      let settings = layer.settings("clip_param")
      let (least, most) = (try settings.number("min"), try settings.number("max"))
      return { max(least, min($0, most)) }
    },
    "Power": .each { layer in
      let settings = layer.settings("power_param")
      let (power, scale, shift) = (
        try settings.number("power"), try settings.number("scale"), try settings.number("shift")
      )
      // power_layer.cpp: if power · scale = 0, the result is constant: 1 or shift ^ power.
      if power * scale == 0 {
        let value = power == 0 ? 1 : pow(shift, power)
        return { _ in value }
      }
      return { power == 1 ? shift + scale * $0 : pow(shift + scale * $0, power) }
    },
    "Exp": .each { layer in
      let settings = layer.settings("exp_param")
      let base = try settings.number("base")
      let (scale, shift) = (try settings.number("scale"), try settings.number("shift"))
      let factor = base == -1 ? 1 : log(base)
      return { exp(factor * (shift + scale * $0)) }
    },
    "Log": .each { layer in
      let settings = layer.settings("log_param")
      let base = try settings.number("base")
      let (scale, shift) = (try settings.number("scale"), try settings.number("shift"))
      let divisor = base == -1 ? 1 : log(base)
      return { log(shift + scale * $0) / divisor }
    },
    "PReLU": .one(parametric),
    "CReLU": .one { layer in
      let settings = layer.settings("crelu_param")
      let index = try settings.int(settings.has("axis") ? "axis" : "concat_axis", default: 1)
      let slope = try settings.number("negative_slope", default: 0)
      let half = { (x: Double) in max(x, 0) + slope * min(x, 0) }
      return .concatenated(
        [layer.input.map(half), layer.input.map { half(-$0) }],
        axis: try layer.axis(index, of: layer.input))
    },
    // dropout_layer.cpp: the TEST phase returns the bottom, unless a fork's scale_train is false;
    // the mean of the samples of sample_weights_test is the bottom.
    "Dropout": .each { layer in
      let settings = layer.settings("dropout_param")
      let ratio = try settings.number("dropout_ratio")
      let factor = try settings.bool("scale_train", default: true) ? 1 : 1 - ratio
      return { $0 * factor }
    },
    "SeLuDropout": .one { $0.input },
    "Split": CaffeOperation { layer in
      [DoubleArray](repeating: layer.input, count: layer.topCount)
    },
  ]

  private static let selu = CaffeOperation.each { layer in
    let settings = layer.settings("selu_param")
    let lambda = try settings.number("lambda", default: 1.050700987)
    let alpha = try settings.number("alpha", default: 1.67326324)
    return { lambda * ($0 > 0 ? $0 : alpha * expm1($0)) }
  }

  /// prelu_layer.cpp: one slope per channel (axis 1), or one for all.
  private static func parametric(_ layer: LayerRun) throws -> DoubleArray {
    let input = layer.input
    try layer.require(input.rank >= 2, "its bottom has \(input.rank) axes")
    let isShared = try layer.settings("prelu_param").bool("channel_shared")
    let channels = input.shape[1]
    let slopes = try layer.weight(0, shape: [isShared ? 1 : channels]).values
    let inner = input.count(2..<input.rank)
    var result = input
    for index in result.values.indices where result.values[index] <= 0 {
      result.values[index] *= isShared ? slopes[0] : slopes[index / inner % channels]
    }
    return result
  }

  static func sigmoid(_ x: Double) -> Double { 1 / (1 + exp(-x)) }

  /// log(1 + eˣ)
  static func bnll(_ x: Double) -> Double { max(x, 0) + log1p(exp(-abs(x))) }
}
