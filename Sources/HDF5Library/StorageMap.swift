import CHDF5
import TensorCore

/// The locations of a file's metadata and of its datasets' values, as the library reads them.
final class StorageMap {
  private struct Extent {
    var start: UInt64
    var end: UInt64
    /// Index of the dataset; nil for metadata.
    var dataset: Int?
  }

  private var extents: [Extent] = []
  private var datasets: [String] = []
  /// The index of the dataset whose values are being added.
  private var current: Int?

  /// Whether values are only recorded in the map instead of being read.
  var skipsValues = false
  /// The size in bytes of the values added last.
  private(set) var lastByteCount = 0

  /// Assigns the values that are added from now on to the dataset at this path; a nil path ignores
  /// them, for a dataset that has been added before.
  func begin(_ path: String?) {
    current = path == nil ? nil : datasets.count
    if let path { datasets.append(path) }
  }

  /// Records the location of values.
  func add(_ offset: UInt64, _ byteCount: Int) {
    lastByteCount = byteCount
    if let current { append(offset, byteCount, dataset: current) }
  }

  private func append(_ offset: UInt64, _ byteCount: Int, dataset: Int?) {
    let (end, overflow) = offset.addingReportingOverflow(UInt64(byteCount))
    if byteCount > 0 {
      extents.append(Extent(start: offset, end: overflow ? .max : end, dataset: dataset))
    }
  }

  /// - Throws: `.malformed` if values overlap metadata or other values.
  func checkOverlaps() throws {
    extents.sort { ($0.start, $0.end) < ($1.start, $1.end) }
    var metadata: Extent?
    var values: Extent?
    for extent in extents {
      for other in [values, extent.dataset == nil ? nil : metadata] {
        guard let other, extent.start < other.end else { continue }
        let owners = Set([extent.dataset, other.dataset]).map { $0.map { datasets[$0] } }
        let names = owners.compactMap { $0 }.sorted()
        let second =
          owners.count == 1 ? "each other" : names.count == 1 ? "the file's structure" : names[1]
        throw ModelError(
          .malformed, "\(names[0]): its values overlap \(second): \(StorageMap.remedy)")
      }
      if extent.dataset == nil {
        if extent.end > metadata?.end ?? 0 { metadata = extent }
      } else {
        values = extent
      }
    }
  }

  /// What to do about bytes that are missing or in the wrong place.
  static let remedy = "the file is damaged; save the network again"

  /// Observes the reads of a file, which the map must outlive.
  func observe(_ source: inout assay_source) {
    source.context = Unmanaged.passUnretained(self).toOpaque()
    source.observe = { context, bytes, offset, size in
      guard let context else { return 0 }
      let map = Unmanaged<StorageMap>.fromOpaque(context).takeUnretainedValue()
      guard let bytes else {
        if map.skipsValues { map.add(offset, size) }
        return map.skipsValues ? 1 : 0
      }
      let read = UnsafeRawBufferPointer(start: bytes, count: size)
      map.append(offset, StorageMap.ownedBytes(read, at: offset), dataset: nil)
      return 0
    }
  }

  /// How many of the bytes belong to the metadata that starts there: the library reads ahead for
  /// object headers and heaps.
  private static func ownedBytes(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Int {
    func integer(_ position: Int, _ width: Int = 8) -> UInt64 {
      guard position + width <= bytes.count else { return .max }
      return (0..<width).reduce(0) { $0 | UInt64(bytes[position + $1]) << UInt64(8 * $1) }
    }
    var size = UInt64.max
    if bytes.starts(with: "OHDR".utf8), bytes.count > 6 {
      let flags = bytes[5]
      let width = 1 << Int(flags & 3)
      let start = 6 + (flags & 0x20 != 0 ? 16 : 0) + (flags & 0x10 != 0 ? 4 : 0)
      size = integer(start, width).addingReportingOverflow(UInt64(start + width + 4)).partialValue
    } else if bytes.starts(with: "HEAP".utf8) {
      // The data follow directly, or are elsewhere and read separately.
      size = integer(24) == offset + 32 ? integer(8).addingReportingOverflow(32).partialValue : 32
    } else if bytes.starts(with: "GCOL".utf8) {
      size = integer(8)
    } else if bytes.first == 1 {
      // An object header of version 1 has no signature.
      size = integer(8, 4) + 16
    }
    return Int(min(size, UInt64(bytes.count)))
  }
}
