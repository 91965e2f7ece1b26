/// (x − mean) / (std + epsilon), over C·H·W or over H·W.
package struct MeanVarianceNormalize: LayerParameters, ShapeKeepingLayer {
  package static let typeName = "mvn"

  package var acrossChannels = false
  package var normalizeVariance = false
  /// 0 means 1e-6.
  package var epsilon: Float = 0

  package init() {}

  package static let fields: Fields = [
    .bool("acrossChannels", \.acrossChannels),
    .bool("normalizeVariance", \.normalizeVariance),
    .float("epsilon", \.epsilon),
  ]

  package var effectiveEpsilon: Float { epsilon == 0 ? 1e-6 : epsilon }
}

/// x / √(Σ x² + epsilon), over C, H, W.
package struct L2Normalize: LayerParameters, ShapeKeepingLayer {
  package static let typeName = "l2normalize"

  /// 0 means 1e-6.
  package var epsilon: Float = 0

  package init() {}

  package static let fields: Fields = [.float("epsilon", \.epsilon)]

  package var effectiveEpsilon: Float { epsilon == 0 ? 1e-6 : epsilon }
}

/// exp(x) / Σ exp(x), over the channels.
package struct Softmax: ShapeKeepingLayer, ParameterlessLayer { package init() {} }

/// x / (k + alpha / localSize · Σ x²) ^ beta, summed over `localSize` channels centered on x.
package struct LRN: LayerParameters, ShapeKeepingLayer {
  package static let typeName = "lrn"

  package var alpha: Float = 0
  package var beta: Float = 0
  package var localSize = 0
  /// 0 means 1.
  package var k: Float = 0

  package init() {}

  package static let fields: Fields = [
    .float("alpha", \.alpha),
    .float("beta", \.beta),
    .int("localSize", \.localSize),
    .float("k", \.k),
  ]

  package var effectiveK: Float { k == 0 ? 1 : k }
}
