import CoreMLModel
import TensorCore

extension Batchnorm: OperationLayer {
  func operations(_ call: LayerCall) throws -> [Variable] {
    let x = try call.planes()
    let gamma = try call.weight(self.gamma, [channels], "gamma")
    let beta = try call.weight(self.beta, [channels], "beta")
    let common: [(String, Argument)] = [
      ("gamma", .variable(gamma)), ("beta", .variable(beta)),
      ("epsilon", .number(effectiveEpsilon)),
    ]
    if !computeMeanVar {
      let mean = try call.weight(self.mean, [channels], "mean")
      let variance = try call.weight(self.variance, [channels], "variance")
      return [
        try call.add(
          "batch_norm", x, [("mean", .variable(mean)), ("variance", .variable(variance))] + common)
      ]
    }
    if instanceNormalization || x.shape[0] == 1 {
      return [try call.add("instance_norm", x, common)]
    }
    let mean = try call.reduce("reduce_mean", x, [0, 2, 3])
    let centered = try call.combine("sub", x, mean)
    let variance = try call.reduce("reduce_mean", call.add("square", centered), [0, 2, 3])
    let factor = try call.add("rsqrt", variance, [("epsilon", .number(effectiveEpsilon))])
    let shape = [1, channels, 1, 1]
    let scaled = try call.combine(
      "mul", call.combine("mul", centered, factor), call.reshape(gamma, to: shape))
    return [try call.combine("add", scaled, call.reshape(beta, to: shape))]
  }
}

extension MeanVarianceNormalize: OperationLayer {
  /// (x − mean) / (√variance + ε)
  func operations(_ call: LayerCall) throws -> [Variable] {
    let x = try call.planes()
    let axes = acrossChannels ? [1, 2, 3] : [2, 3]
    let centered = try call.combine("sub", x, call.reduce("reduce_mean", x, axes))
    if !normalizeVariance { return [centered] }
    let variance = try call.reduce("reduce_mean", call.add("square", centered), axes)
    let deviation = try call.combine("add", call.add("sqrt", variance), effectiveEpsilon)
    return [try call.combine("real_div", centered, deviation)]
  }
}

extension L2Normalize: OperationLayer {
  func operations(_ call: LayerCall) throws -> [Variable] {
    [try call.add("l2_norm", call.planes(), [("epsilon", .number(effectiveEpsilon))])]
  }
}

extension Softmax: OperationLayer {
  func operations(_ call: LayerCall) throws -> [Variable] {
    [try call.add("softmax", call.channels(), [("axis", .int(1))])]
  }
}

extension SoftmaxND: OperationLayer {
  func operations(_ call: LayerCall) throws -> [Variable] {
    [try call.add("softmax", call.array(), [("axis", .int(axis))])]
  }
}

extension LRN: OperationLayer {
  func operations(_ call: LayerCall) throws -> [Variable] {
    [
      try call.add(
        "local_response_norm", call.planes(),
        [
          ("size", .int(localSize)), ("alpha", .number(alpha)), ("beta", .number(beta)),
          ("k", .number(effectiveK)),
        ])
    ]
  }
}

extension LayerNormalization: OperationLayer {
  func operations(_ call: LayerCall) throws -> [Variable] {
    let x = try call.array()
    let count = normalizedShape.count
    return [
      try call.add(
        "layer_norm", x,
        [
          ("axes", .ints(Array(x.rank - count..<x.rank))),
          ("gamma", .variable(try call.weight(gamma, normalizedShape, "gamma"))),
          ("beta", .variable(try call.weight(beta, normalizedShape, "beta"))),
          ("epsilon", .number(eps)),
        ])
    ]
  }
}

extension Scale: OperationLayer {
  func operations(_ call: LayerCall) throws -> [Variable] {
    let x = try call.planes()
    let factor = try call.planeConstant(scale, shapeScale, "scale")
    let product = try call.combine("mul", x, factor)
    if !hasBias { return [product] }
    return [try call.combine("add", product, call.planeConstant(bias, shapeBias, "bias"))]
  }
}

extension Bias: OperationLayer {
  func operations(_ call: LayerCall) throws -> [Variable] {
    [try call.combine("add", call.planes(), call.planeConstant(bias, shape, "bias"))]
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
