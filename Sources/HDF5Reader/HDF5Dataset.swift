import TensorCore

/// A dataset of an HDF5 file: a dense array of numbers or strings.
package struct HDF5Dataset: Sendable {
  let index: Int
  let contents: HDF5Contents
  private var node: DatasetNode { contents.datasets[index] }

  /// The last component of `path`.
  package var name: String { node.name }
  /// Absolute path, beginning with a slash.
  package var path: String { node.path }
  /// Row-major; empty for a scalar.
  package var shape: [Int] { node.shape }
  package var count: Int { node.count }
  /// The type of the elements as they are stored, whatever they are read as.
  package var originalType: HDF5ElementType { node.type }

  /// The elements as 32-bit floats under `shape`, rounded to nearest where they are stored wider.
  ///
  /// Little-endian 32-bit floats in one piece are not copied: the values lie in the file, which is
  /// mapped. Everything else is converted once and kept for as long as the file or the values live.
  package func values() throws -> FloatValues {
    guard node.type.kind != .string else { throw wrongType("numbers") }
    return FloatValues(bytes: try contents.bytes(of: index, as: .float32)).shaped(shape)
  }

  /// The elements as integers. Precondition of the file: they are stored as such.
  package func integers() throws -> [Int] {
    guard node.type.isInteger else { throw wrongType("integers") }
    return try contents.bytes(of: index, as: .int64).array(of: Int64.self).map { Int($0) }
  }

  package func strings() throws -> [String] {
    guard node.type.kind == .string else { throw wrongType("strings") }
    return try contents.strings(of: index)
  }

  private func wrongType(_ wanted: String) -> ModelError {
    contents.error(.malformed, "\(path) contains \(originalType), not \(wanted)")
  }
}
