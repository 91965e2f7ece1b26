import CoreMLModel
import TensorCore

extension Batchnorm: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.planes()
    let gamma = try layer.weight(self.gamma, [channels], "gamma")
    let beta = try layer.weight(self.beta, [channels], "beta")
    let common: [(String, Argument)] = [
      ("gamma", .variable(gamma)), ("beta", .variable(beta)),
      ("epsilon", .number(effectiveEpsilon)),
    ]
    if !computeMeanVar {
      let mean = try layer.weight(self.mean, [channels], "mean")
      let variance = try layer.weight(self.variance, [channels], "variance")
      return try layer.add(
        "batch_norm", x, [("mean", .variable(mean)), ("variance", .variable(variance))] + common)
    }
    if instanceNormalization || x.shape[0] == 1 { return try layer.add("instance_norm", x, common) }
    let mean = try layer.reduce("reduce_mean", x, [0, 2, 3])
    let centered = try layer.combine("sub", x, mean)
    let variance = try layer.reduce("reduce_mean", layer.add("square", centered), [0, 2, 3])
    let factor = try layer.add("rsqrt", variance, [("epsilon", .number(effectiveEpsilon))])
    let shape = [1, channels, 1, 1]
    let scaled = try layer.combine(
      "mul", layer.combine("mul", centered, factor), layer.reshape(gamma, to: shape))
    return try layer.combine("add", scaled, layer.reshape(beta, to: shape))
  }
}

extension MeanVarianceNormalize: OneResultLayer {
  /// (x − mean) / (√variance + ε)
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.planes()
    let axes = acrossChannels ? [1, 2, 3] : [2, 3]
    let centered = try layer.combine("sub", x, layer.reduce("reduce_mean", x, axes))
    if !normalizeVariance { return centered }
    let variance = try layer.reduce("reduce_mean", layer.add("square", centered), axes)
    let deviation = try layer.combine("add", layer.add("sqrt", variance), effectiveEpsilon)
    return try layer.combine("real_div", centered, deviation)
  }
}

extension L2Normalize: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.add("l2_norm", layer.planes(), [("epsilon", .number(effectiveEpsilon))])
  }
}

extension Softmax: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.add("softmax", layer.channels(), [("axis", .int(1))])
  }
}

extension SoftmaxND: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.add("softmax", layer.array(), [("axis", .int(axis))])
  }
}

extension LRN: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.add(
      "local_response_norm", layer.planes(),
      [
        ("size", .int(localSize)), ("alpha", .number(alpha)), ("beta", .number(beta)),
        ("k", .number(effectiveK)),
      ])
  }
}

extension LayerNormalization: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.array()
    let count = normalizedShape.count
    return try layer.add(
      "layer_norm", x,
      [
        ("axes", .ints(Array(x.rank - count..<x.rank))),
        ("gamma", .variable(try layer.weight(gamma, normalizedShape, "gamma"))),
        ("beta", .variable(try layer.weight(beta, normalizedShape, "beta"))),
        ("epsilon", .number(eps)),
      ])
  }
}

extension Scale: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.planes()
    let factor = try layer.planeConstant(scale, shapeScale, "scale")
    let product = try layer.combine("mul", x, factor)
    if !hasBias { return product }
    return try layer.combine("add", product, layer.planeConstant(bias, shapeBias, "bias"))
  }
}

extension Bias: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    try layer.combine("add", layer.planes(), layer.planeConstant(bias, shape, "bias"))
  }
}

extension LayerCall {
  /// A weight of shape `[1]`, `[C]`, `[1, H, W]` or `[C, H, W]` as `[1, C, H, W]`.
  fileprivate func planeConstant(
    _ weights: Weights?, _ shape: [Int], _ field: String
  ) throws -> Variable {
    let sizes = shape.count == 3 ? shape : [shape.first ?? 1, 1, 1]
    return try weight(weights, shape, field, newShape: [1] + sizes)
  }
}
