import ByteFormats
import CHDF5
import HDF5Reader
import TensorCore

/// Checks the chunks of a dataset, because the library returns zeros or uninitialized memory for
/// missing parts.
struct ChunkCheck {
  private let shape: [Int]
  private let chunk: [Int]
  /// Bytes of a chunk without filters.
  private let byteCount: Int
  private let filters: [H5Z_filter_t]
  /// Whether chunks at the edges are stored without filters.
  private let hasPlainEdges: Bool
  private let isFilled: Bool
  private let map: StorageMap?
  private let fileSize: Int

  /// - Parameters:
  ///   - filters: the filters in the order in which they were applied.
  ///   - isFilled: whether the file declares the values of missing chunks.
  ///   - map: the map that records where the chunks are; if nil, compressed ones are expanded.
  init(
    _ creation: borrowing Handle, shape: [Int], elementBytes: Int, filters: [H5Z_filter_t],
    isFilled: Bool, map: StorageMap?, fileSize: Int
  ) throws {
    var extents = [hsize_t](repeating: 0, count: max(shape.count, 1))
    var options: UInt32 = 0
    guard H5Pget_chunk(creation.id, Int32(extents.count), &extents) == shape.count,
      H5Pget_chunk_opts(creation.id, &options) >= 0, !extents.contains(0)
    else { throw LibraryError.current("its chunks cannot be read") }
    chunk = extents.map { Int(clamping: $0) }
    byteCount = try checkedProduct(chunk + [elementBytes], limit: Limits.fileBytes)
    hasPlainEdges = options & UInt32(H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0
    (self.shape, self.filters, self.fileSize) = (shape, filters, fileSize)
    (self.isFilled, self.map) = (isFilled, map)
  }

  func check(_ dataset: borrowing Handle) throws {
    guard map != nil || filters.contains(H5Z_FILTER_DEFLATE) else { return }
    map?.skipsValues = true
    defer { map?.skipsValues = false }
    let counts = zip(shape, chunk).map { ($0 + $1 - 1) / $1 }
    var position = [Int](repeating: 0, count: shape.count)
    for _ in 0..<(try checkedProduct(counts, limit: HDF5Limits.chunks)) {
      try check(dataset, at: position)
      for axis in position.indices.reversed() {
        position[axis] += chunk[axis]
        if position[axis] < shape[axis] { break }
        position[axis] = 0
      }
    }
  }

  private func check(_ dataset: borrowing Handle, at position: [Int]) throws {
    func error(_ what: String) -> ModelError {
      ModelError(.malformed, "its chunk at \(position) \(what): \(StorageMap.remedy)")
    }
    let offset = position.map { hsize_t($0) }
    var declared: hsize_t = 0
    _ = H5Dget_chunk_storage_size(dataset.id, offset, &declared)
    guard declared <= hsize_t(fileSize) else { throw error("is larger than the file") }
    let stored = try AlignedBuffer(checkedByteCount: Int(declared))
    var mask: UInt32 = 0
    guard assay_read_chunk(dataset.id, offset, &mask, stored.pointer) >= 0 else {
      H5Eclear2(LibraryError.stack)
      if declared == 0 && isFilled { return }
      throw error(declared == 0 ? "is missing" : "is beyond the end of the file")
    }
    // The library declares the full size of chunks without filters.
    let size = map?.lastByteCount ?? Int(declared)
    let isEdge = zip(zip(position, chunk), shape).contains { $0.0 + $0.1 > $1 }
    if isEdge && hasPlainEdges { mask = .max }
    let applied = filters.indices.filter { mask >> UInt32($0) & 1 == 0 }.map { filters[$0] }
    // Each checksum adds four bytes to its input.
    let compression = applied.firstIndex(of: H5Z_FILTER_DEFLATE)
    let checksums = applied.indices.filter { applied[$0] == H5Z_FILTER_FLETCHER32 }
    let inner = byteCount + 4 * checksums.filter { $0 < compression ?? applied.count }.count
    guard let compression else {
      guard size == inner else { throw error("has \(size) bytes instead of \(inner)") }
      return
    }
    if map != nil { return }
    let outer = 4 * checksums.filter { $0 > compression }.count
    let length = max(0, size - outer)
    let bytes = Bytes(base: stored.pointer, count: length, owner: stored)
    guard try Deflate.expand(bytes, byteCount: inner, hasHeader: true) != nil else {
      throw error("does not expand to \(inner) bytes")
    }
  }
}
