import Kernels
import TensorCore

/// Rows and columns of zeros around every plane.
struct Halo: Hashable, Sendable {
  var top = 0
  var bottom = 0
  var left = 0
  var right = 0

  static let none = Halo()

  /// The smallest halo that contains both.
  func union(_ other: Halo) -> Halo {
    Halo(
      top: max(top, other.top), bottom: max(bottom, other.bottom),
      left: max(left, other.left), right: max(right, other.right))
  }
}

/// The layout of a blob in memory: `[image][channel / block][row][column][channel % block]`, each
/// plane with a halo of zeros. A block of 1 is plain row-major order.
///
/// The rows of a matrix can also be a single row of pixels, each with adjacent channels:
/// `init(pixels:channels:block:)`.
///
/// Strides count floats. In the last channel block, lanes without a channel are zero.
struct BlobLayout: Equatable, Sendable {
  /// `[Seq, Batch, C, H, W]`, whatever the blob's rank.
  let shape: Shape
  let block: Int
  let halo: Halo
  /// From one pixel to the next: the block, unless all channels of a pixel are adjacent.
  let pixelStride: Int
  let rowStride: Int
  let planeStride: Int
  let imageStride: Int
  /// Floats from the buffer's start to element (0, 0, 0, 0).
  let origin: Int
  /// Floats of the whole buffer.
  let floatCount: Int

  init(_ shape: Shape, block: Int, halo: Halo = .none) throws {
    let shape = try shape.planes
    (self.shape, self.block, self.halo) = (shape, block, halo)
    let columns = try checkedSum([halo.left, shape.width, halo.right])
    let rows = try checkedSum([halo.top, shape.height, halo.bottom])
    let channelBlocks = (shape.channels + block - 1) / block
    let limit = 1 << 40
    pixelStride = block
    rowStride = try checkedProduct([columns, block], limit: limit)
    planeStride = try checkedProduct([rows, rowStride], limit: limit)
    imageStride = try checkedProduct([channelBlocks, planeStride], limit: limit)
    floatCount = try checkedProduct([shape.images, imageStride], limit: limit)
    origin = halo.top * rowStride + halo.left * block
  }

  /// The layout of some channels of `whole`, starting at a channel block; `shape` has only these
  /// channels. The caller adds the offset of the slice.
  init(_ shape: Shape, in whole: BlobLayout) {
    self.shape = shape
    block = whole.block
    halo = whole.halo
    pixelStride = whole.pixelStride
    rowStride = whole.rowStride
    planeStride = whole.planeStride
    imageStride = whole.imageStride
    origin = whole.origin
    let planes = (shape.channels + whole.block - 1) / whole.block
    floatCount = (shape.images - 1) * whole.imageStride + planes * whole.planeStride
  }

  /// The row-major matrix `[pixels][channels]`, with rows divided into blocks.
  init(pixels: Int, channels: Int, block: Int) throws {
    shape = try Shape([1, 1, channels, 1, pixels])
    self.block = block
    halo = .none
    pixelStride = channels
    rowStride = shape.count
    planeStride = block
    imageStride = shape.count
    origin = 0
    floatCount = shape.count
  }

  var strides: Strides {
    Strides(pixel: pixelStride, row: rowStride, block: planeStride, image: imageStride)
  }

  var channelBlocks: Int { (shape.channels + block - 1) / block }
  /// Planes of `block` channels in all images.
  var planes: Int { shape.images * channelBlocks }
  /// Whether the rows of a plane are contiguous.
  var hasContiguousPlanes: Bool { rowStride == shape.width * pixelStride }
  /// Whether the layout is the plain row-major array of the shape.
  var isDense: Bool { block == 1 && halo == .none }

  /// Floats from the start of the buffer to the first element of plane `index`.
  func planeOffset(_ index: Int) -> Int {
    index / channelBlocks * imageStride + index % channelBlocks * planeStride + origin
  }

  /// Whether all elements are at the same positions as in `other`, ignoring lanes without a channel.
  func coincides(with other: BlobLayout) -> Bool {
    if self == other { return true }
    return shape.images == 1 && shape.area == 1 && halo == .none && other.halo == .none
      && shape.itemCount == other.shape.itemCount && other.shape.images == 1
      && other.shape.area == 1
  }

  /// Whether the last channel block has lanes without a channel.
  var hasEmptyLanes: Bool { shape.channels % block != 0 }

  /// Clears the lanes without a channel in plane `index`, for `rows` or for all rows.
  func clearEmptyLanes(
    ofPlane index: Int, rows: Range<Int>? = nil, in buffer: UnsafeMutablePointer<Float>
  ) {
    let used = shape.channels - index % channelBlocks * block
    if used >= block { return }
    let rows = rows ?? 0..<shape.height
    var row = buffer + planeOffset(index) + rows.lowerBound * rowStride
    for _ in rows {
      for pixel in 0..<shape.width {
        (row + pixel &* block + used).update(repeating: 0, count: block - used)
      }
      row += rowStride
    }
  }

  /// Clears the halos of thread `thread`'s share of the planes.
  func clearHalos(ofThread thread: Int, _ threads: Int, in buffer: UnsafeMutablePointer<Float>) {
    if halo == .none { return }
    for plane in ThreadPool.share(of: planes, thread, threads) {
      clearHalo(ofPlane: plane, in: buffer)
    }
  }

  /// Clears the halo of plane `index`.
  func clearHalo(ofPlane index: Int, in buffer: UnsafeMutablePointer<Float>) {
    if halo == .none { return }
    let start = buffer + (planeOffset(index) - origin)
    let body = shape.width * block
    if halo.top > 0 { start.update(repeating: 0, count: halo.top * rowStride) }
    var row = start + halo.top * rowStride
    let left = halo.left * block
    let right = halo.right * block
    for _ in 0..<shape.height {
      if left > 0 { row.update(repeating: 0, count: left) }
      if right > 0 { (row + left + body).update(repeating: 0, count: right) }
      row += rowStride
    }
    if halo.bottom > 0 { row.update(repeating: 0, count: halo.bottom * rowStride) }
  }
}
