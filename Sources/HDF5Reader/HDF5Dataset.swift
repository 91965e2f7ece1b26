import TensorCore

/// A dataset of an HDF5 file: a dense array of numbers or strings.
package struct HDF5Dataset: Sendable {
  let index: Int
  let contents: HDF5Contents
  private var node: DatasetNode { contents.datasets[index] }

  /// The last component of `path`.
  package var name: String { node.name }
  /// Absolute path, starting with a slash.
  package var path: String { node.path }
  /// The sizes of the axes, in row-major order; empty for a scalar.
  package var shape: [Int] { node.shape }
  package var count: Int { node.count }
  /// The stored type of the elements, regardless of how they are read.
  package var originalType: HDF5ElementType { node.type }

  /// The elements as 32-bit floats with the shape `shape`; wider types are rounded to nearest.
  ///
  /// Contiguous little-endian 32-bit floats are not copied: the values stay in the mapped file.
  /// Everything else is converted once and kept as long as the file or the values are alive.
  package func values() throws -> FloatValues {
    guard node.type.kind != .string else {
      throw contents.error(.malformed, "\(path) contains \(originalType), not numbers")
    }
    return FloatValues(bytes: try contents.bytes(of: index)).shaped(shape)
  }
}
