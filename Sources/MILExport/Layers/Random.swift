import CoreMLModel
import TensorCore

extension RandomLike: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.random(parameters.distribution, seed)
  }
}

extension RandomStatic: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.random(parameters.distribution, seed)
  }
}

extension CategoricalDistribution: OneResultLayer {
  /// The logits of probabilities p are log(p + eps) / temperature.
  func operation(_ layer: LayerCall) throws -> Variable {
    var x = try layer.array()
    if !isLogits { x = try layer.add("log", x, [("epsilon", .number(effectiveEps))]) }
    if effectiveTemperature != 1 { x = try layer.combine("real_div", x, effectiveTemperature) }
    return try layer.add(
      "random_categorical", x,
      [("mode", .text("logits")), ("size", .int(numSamples)), ("seed", .int(max(-1, seed)))],
      shape: layer.outputShapes[0])
  }
}

extension LayerCall {
  fileprivate func random(_ distribution: RandomDistribution, _ seed: Int) throws -> Variable {
    let shape = outputShapes[0]
    let (operation, parameters): (String, [(String, Argument)]) =
      switch distribution {
      case .normal(let mean, let deviation):
        ("random_normal", [("mean", .number(mean)), ("stddev", .number(deviation))])
      case .uniform(let low, let high):
        ("random_uniform", [("low", .number(low)), ("high", .number(high))])
      case .bernoulli(let probability): ("random_bernoulli", [("prob", .number(probability))])
      }
    return try make(
      operation, [("shape", .ints(shape))] + parameters + [("seed", .int(max(-1, seed)))],
      shape: shape)
  }
}
