/// (x − mean) / (std + epsilon), over C·H·W or over H·W.
package struct MeanVarianceNormalize: LayerParameters {
  package static let typeName = "mvn"

  package var acrossChannels = false
  package var normalizeVariance = false
  /// 0 means 1e-6.
  package var epsilon: Float = 0
  package var unknownFields = UnknownFields()

  package init() {}
}

/// x / √(Σ x² + epsilon), over C, H, W.
package struct L2Normalize: LayerParameters {
  package static let typeName = "l2normalize"

  /// 0 means 1e-6.
  package var epsilon: Float = 0
  package var unknownFields = UnknownFields()

  package init() {}
}

/// exp(x) / Σ exp(x), over the channels.
package struct Softmax: LayerParameters {
  package static let typeName = "softmax"

  package var unknownFields = UnknownFields()

  package init() {}
}

/// x / (k + alpha / localSize · Σ x²) ^ beta, the sum over `localSize` channels around.
package struct LRN: LayerParameters {
  package static let typeName = "lrn"

  package var alpha: Float = 0
  package var beta: Float = 0
  package var localSize = 0
  /// 0 means 1.
  package var k: Float = 0
  package var unknownFields = UnknownFields()

  package init() {}
}

extension MeanVarianceNormalize: EncodedMessage {
  static let fields: [Field<Self>] = [
    .bool("acrossChannels", \.acrossChannels),
    .bool("normalizeVariance", \.normalizeVariance),
    .float("epsilon", \.epsilon),
  ]
}

extension L2Normalize: EncodedMessage {
  static let fields: [Field<Self>] = [
    .float("epsilon", \.epsilon)
  ]
}

extension Softmax: EncodedMessage {
  static let fields: [Field<Self>] = []
}

extension LRN: EncodedMessage {
  static let fields: [Field<Self>] = [
    .float("alpha", \.alpha),
    .float("beta", \.beta),
    .int("localSize", \.localSize),
    .float("k", \.k),
  ]
}

extension MeanVarianceNormalize {
  package var effectiveEpsilon: Float { epsilon == 0 ? 1e-6 : epsilon }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try unchanged(inputs) }
}

extension L2Normalize {
  package var effectiveEpsilon: Float { epsilon == 0 ? 1e-6 : epsilon }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try unchanged(inputs) }
}

extension Softmax {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try unchanged(inputs) }
}

extension LRN {
  package var effectiveK: Float { k == 0 ? 1 : k }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try unchanged(inputs) }
}
