/// The complete value of an attribute.
package struct HDF5Attribute: Sendable, Equatable {
  package enum Elements: Sendable, Equatable {
    /// Fixed or variable-length strings, without their padding; invalid UTF-8 is repaired.
    case strings([String])
    /// An unsupported type, which the text names.
    case unsupported(String)
  }

  /// The sizes of the axes; empty for a scalar, `[0]` for a null dataspace.
  package let shape: [Int]
  package let elements: Elements

  /// The string, if there is exactly one.
  package var string: String? {
    guard case .strings(let values) = elements, values.count == 1 else { return nil }
    return values[0]
  }

  package var strings: [String]? {
    guard case .strings(let values) = elements else { return nil }
    return values
  }
}
