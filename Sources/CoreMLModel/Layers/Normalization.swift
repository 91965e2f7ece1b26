/// (x − mean) / (std + epsilon), over C·H·W or over H·W.
public struct MeanVarianceNormalize: LayerParameters {
  public static let typeName = "mvn"

  public var acrossChannels = false
  public var normalizeVariance = false
  /// 0 means 1e-6.
  public var epsilon: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// x / √(Σ x² + epsilon), over C, H, W.
public struct L2Normalize: LayerParameters {
  public static let typeName = "l2normalize"

  /// 0 means 1e-6.
  public var epsilon: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// exp(x) / Σ exp(x), over the channels.
public struct Softmax: LayerParameters {
  public static let typeName = "softmax"

  public var unknownFields = UnknownFields()

  public init() {}
}

/// x / (k + alpha / localSize · Σ x²) ^ beta, the sum over `localSize` channels around.
public struct LRN: LayerParameters {
  public static let typeName = "lrn"

  public var alpha: Float = 0
  public var beta: Float = 0
  public var localSize = 0
  /// 0 means 1.
  public var k: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
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
  public var effectiveEpsilon: Float { epsilon == 0 ? 1e-6 : epsilon }

  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try unchanged(inputs) }
}

extension L2Normalize {
  public var effectiveEpsilon: Float { epsilon == 0 ? 1e-6 : epsilon }

  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try unchanged(inputs) }
}

extension Softmax {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try unchanged(inputs) }
}

extension LRN {
  public var effectiveK: Float { k == 0 ? 1 : k }

  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] { try unchanged(inputs) }
}
