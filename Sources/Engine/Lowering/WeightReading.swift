import CoreMLModel
import TensorCore

extension LayerLowering {
  /// The values of a weight, in file order.
  ///
  /// - Throws: `ModelError` if the weight is missing or its size does not match `shape`.
  func values(
    _ weights: Weights?, _ shape: [Int], channelAxis: Int = 0, _ field: String
  ) throws -> FloatValues {
    let count = try checkedProduct(shape, limit: Limits.tensorElements)
    guard let weights else {
      throw ModelError(.malformed, "the values are missing; \(count) are needed", field: field)
    }
    do {
      return try weights.values(shape: shape, channelAxis: channelAxis)
    } catch var error as ModelError {
      error.field = error.field ?? field
      throw error
    }
  }

  /// The values of a weight as stored, in the order of `shape`. Any axis but the first may be split
  /// into several, so that a kernel after a flattening is not copied.
  ///
  /// - Throws: the same errors as `values`.
  func stored(
    _ weights: Weights?, _ shape: [Int], channelAxis: Int = 0, _ field: String
  ) throws -> StoredWeights {
    guard let weights else { return .floats(try values(weights, shape, field)) }
    do {
      if let compressed = try CompressedWeights(weights, shape, channelAxis: channelAxis) {
        return .compressed(compressed)
      }
      try weights.requireValues(shape: shape, channelAxis: channelAxis)
      let floats = weights.floatValue
      if floats.count > 0, floats.shape.first == shape.first { return .floats(floats) }
      return .floats(try weights.values(shape: shape, channelAxis: channelAxis))
    } catch var error as ModelError {
      error.field = error.field ?? field
      throw error
    }
  }

  /// One value per channel, or a single value for all.
  func perChannel(_ weights: Weights?, _ channels: Int, _ field: String) throws -> [Float] {
    if let weights, weights.holds(1), channels != 1 {
      return try values(weights, [1], field).array()
    }
    return try values(weights, [channels], field).array()
  }
}

extension Weights {
  /// Whether exactly `count` values are stored.
  func holds(_ count: Int) -> Bool {
    if floatValue.count > 0 { return floatValue.count == count }
    if float16Value.count > 0 { return float16Value.count == count * 2 }
    if int8RawValue.count > 0 { return int8RawValue.count == count }
    let bits = count * (quantization?.numberOfBits ?? 0)
    return rawValue.count == (bits + 7) / 8
  }
}
