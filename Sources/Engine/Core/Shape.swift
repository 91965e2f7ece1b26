import CoreMLModel
import TensorCore

/// The shape of a blob of any rank, which is also seen as `[Seq, Batch, C, H, W]`: the layout of
/// buffers and the shape for plane-based layers. Every size is at least 1 and the product is within
/// `Limits.tensorElements`.
///
/// The last three axes are C, H and W, the axis before them is the batch, and the axes before that
/// together are the sequence. In shapes with one or two axes, the last is C.
struct Shape: Hashable, Sendable {
  /// The exact sizes.
  private(set) var dimensions: [Int]
  let sequence: Int
  let batch: Int
  let channels: Int
  private(set) var height: Int
  private(set) var width: Int

  /// - Throws: `ModelError` unless `dimensions` are at most `Limits.rank` positive sizes within the
  ///   limits.
  init(_ dimensions: [Int]) throws {
    try require(
      dimensions.count <= Limits.rank,
      "a blob has rank \(dimensions.count); the limit is \(Limits.rank)")
    try require(
      dimensions.allSatisfy({ $0 > 0 && $0 <= Limits.dimension }),
      "a blob is empty or has an invalid size: \(dimensions)")
    _ = try checkedProduct(dimensions, limit: Limits.tensorElements)
    self.dimensions = dimensions
    let five = try BlobRank.fiveAxes(dimensions)
    sequence = five[0]
    batch = five[1]
    channels = five[2]
    height = five[3]
    width = five[4]
  }

  /// The same elements as `[Seq, Batch, C, H, W]`.
  var planes: Shape { get throws { try Shape([sequence, batch, channels, height, width]) } }

  /// Whether both shapes are equal as `[Seq, Batch, C, H, W]`.
  func hasPlanes(of other: Shape) -> Bool {
    sequence == other.sequence && batch == other.batch && channels == other.channels
      && height == other.height && width == other.width
  }

  /// Whether each size as `[Seq, Batch, C, H, W]` is 1 or equals that of the other shape.
  func hasPlanes(repeatedTo other: Shape) -> Bool {
    func fits(_ size: KeyPath<Shape, Int>) -> Bool {
      self[keyPath: size] == 1 || self[keyPath: size] == other[keyPath: size]
    }
    return [\.sequence, \.batch, \.channels, \.height, \.width].allSatisfy(fits)
  }

  /// The same shape with planes of another size, as `[Seq, Batch, C, H, W]`. Precondition: the
  /// sizes have been checked.
  func resized(height: Int, width: Int) -> Shape {
    var shape = self
    shape.dimensions = [sequence, batch, channels, height, width]
    shape.height = height
    shape.width = width
    return shape
  }

  var rank: Int { dimensions.count }
  /// Independent items: sequence steps times batch.
  var images: Int { sequence * batch }
  var area: Int { height * width }
  /// Elements per item.
  var itemCount: Int { channels * area }
  var count: Int { images * itemCount }

  /// Throws if a blob of this shape alone exceeds `byteLimit`.
  func requireMemory(_ byteLimit: Int) throws {
    guard count > byteLimit / 4 else { return }
    throw MemoryBudget.refusal(
      "a blob of shape \(dimensions) needs \(count * 4) bytes", limit: byteLimit)
  }
}
