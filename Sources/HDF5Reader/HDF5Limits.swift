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
  package static let messageBytes = 4096
  /// A dataset may always declare this many bytes, and beyond that `Limits.expansionRatio` times
  /// its stored size.
  package static let freeBytes = 64 << 10
}
