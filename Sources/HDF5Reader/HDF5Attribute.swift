import TensorCore

/// An attribute's value, in full.
public struct HDF5Attribute: Sendable, Equatable {
  public enum Elements: Sendable, Equatable {
    /// Fixed or variable-length strings, without their padding; what is not UTF-8 is repaired.
    case strings([String])
    /// Floats of any width and byte order.
    case doubles([Double])
    /// Integers and booleans.
    case integers([Int])
    /// A type that is not read; the text says which.
    case unsupported(String)
  }

  /// Row-major; empty for a scalar, `[0]` for a null dataspace.
  public let shape: [Int]
  public let elements: Elements

  /// The only string, where there is exactly one.
  public var string: String? {
    guard case .strings(let values) = elements, values.count == 1 else { return nil }
    return values[0]
  }

  public var strings: [String]? {
    guard case .strings(let values) = elements else { return nil }
    return values
  }

  /// Floats or integers as doubles.
  public var doubles: [Double]? {
    switch elements {
    case .doubles(let values): values
    case .integers(let values): values.map(Double.init)
    case .strings, .unsupported: nil
    }
  }

  public var integers: [Int]? {
    guard case .integers(let values) = elements else { return nil }
    return values
  }
}
