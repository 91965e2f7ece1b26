import TensorCore

/// The shape of a blob, `[Seq, Batch, C, H, W]`. Every size is at least 1 and the product is within
/// `Limits.tensorElements`.
struct Shape: Hashable, Sendable {
  var sequence: Int
  var batch: Int
  var channels: Int
  var height: Int
  var width: Int

  /// - Throws: `ModelError` where `dimensions` are not five positive sizes within the limits.
  init(_ dimensions: [Int]) throws {
    guard dimensions.count == 5 else {
      throw ModelError(
        .malformed, "a blob of rank \(dimensions.count), \(dimensions), where five axes are needed")
    }
    guard dimensions.allSatisfy({ $0 > 0 && $0 <= Limits.dimension }) else {
      throw ModelError(.malformed, "a blob has no element or an impossible size: \(dimensions)")
    }
    _ = try checkedProduct(dimensions, limit: Limits.tensorElements)
    sequence = dimensions[0]
    batch = dimensions[1]
    channels = dimensions[2]
    height = dimensions[3]
    width = dimensions[4]
  }

  /// Items that are processed alike: sequence steps times batch.
  var images: Int { sequence * batch }
  var area: Int { height * width }
  /// Elements of one item.
  var itemCount: Int { channels * area }
  var count: Int { images * itemCount }
  var dimensions: [Int] { [sequence, batch, channels, height, width] }

  /// Throws where a blob of this shape alone is more than `byteLimit`.
  func requireMemory(_ byteLimit: Int) throws {
    guard count <= byteLimit / 4 else {
      throw ModelError(
        .outOfMemory,
        "a blob of shape \(dimensions) takes \(count * 4) bytes, \(byteLimit) are allowed")
    }
  }
}
