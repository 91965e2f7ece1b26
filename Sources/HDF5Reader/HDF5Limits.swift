import TensorCore

/// Bounds on what an HDF5 file may declare, in addition to `Limits`. Both worker and parent check
/// them.
package enum HDF5Limits {
  /// Groups, datasets and refused links of one file.
  package static let objects = 1_000_000
  package static let depth = 32
  package static let attributesPerObject = 10_000
  /// Bytes of one attribute or one string dataset.
  package static let attributeBytes = Limits.jsonBytes
  /// Bytes of all frames of one pass.
  package static let frameBytes = 256 << 20
  package static let filters = 8
  /// Chunks of one dataset.
  package static let chunks = 1 << 20
  package static let messageBytes = 4096
  /// A dataset may always declare this many bytes, and beyond that `Limits.expansionRatio` times
  /// its stored size.
  package static let freeBytes = 64 << 10
}

/// Counts the bytes of datasets whose stored form differs from their values.
package struct HDF5Expansion {
  private let fileSize: Int
  private var total = 0

  package init(fileSize: Int) { self.fileSize = fileSize }

  /// - Throws: `.limitExceeded` if the file expands out of proportion to its size.
  package mutating func add(_ byteCount: Int) throws {
    let sum = try checkedSum([total, byteCount])
    guard
      sum <= Limits.uncheckedExpansionBytes || sum / Limits.totalExpansionRatio <= fileSize
    else {
      throw ModelError(
        .limitExceeded,
        "the file's \(fileSize) bytes expand to \(sum), more than \(Limits.totalExpansionRatio) "
          + "times as many", hint: "store the datasets without compression")
    }
    total = sum
  }
}
