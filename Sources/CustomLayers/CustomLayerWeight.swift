import TensorCore

/// A weight of a custom layer: its bytes as the model stores them, and what they are.
public struct CustomLayerWeight: Sendable, Equatable {
  /// What the bytes are.
  public enum Element: Sendable, Equatable {
    /// Little-endian 32-bit floats.
    case float32
    /// Little-endian half floats.
    case float16
    /// Bytes whose meaning only the class knows.
    case raw
  }

  /// As the model stores them.
  public let bytes: Bytes
  /// What the bytes are.
  public let element: Element

  /// Bytes and what they are.
  public init(_ bytes: Bytes, _ element: Element) {
    self.bytes = bytes
    self.element = element
  }

  /// 32-bit floats.
  public init(_ values: [Float]) { self.init(Bytes(values), .float32) }

  /// The values, of either precision.
  public func floats() throws -> [Float] {
    switch element {
    case .float32 where bytes.count % 4 == 0: return bytes.array(of: Float.self)
    case .float16 where bytes.count % 2 == 0: return bytes.array(of: UInt16.self).map(Half.float)
    case .raw:
      throw ModelError(
        .unsupported, "the weight holds raw bytes; floats are needed", field: "weights")
    default:
      throw ModelError(
        .malformed, "\(bytes.count) bytes are not a whole number of \(element) values",
        field: "weights")
    }
  }
}
