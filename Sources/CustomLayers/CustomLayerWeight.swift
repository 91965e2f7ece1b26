import TensorCore

/// A weight of a custom layer: its bytes as stored in the model, and their type.
public struct CustomLayerWeight: Sendable, Equatable {
  /// The type of the bytes.
  public enum Element: Sendable, Equatable {
    /// Little-endian 32-bit floats.
    case float32
    /// Little-endian half floats.
    case float16
    /// Bytes that only the class can interpret.
    case raw
  }

  /// The bytes as stored in the model.
  public let bytes: Bytes
  /// The type of the bytes.
  public let element: Element

  /// Creates a weight from bytes of a type.
  public init(_ bytes: Bytes, _ element: Element) {
    self.bytes = bytes
    self.element = element
  }

  /// Creates a weight from 32-bit floats.
  public init(_ values: [Float]) { self.init(Bytes(values), .float32) }

  /// The values as floats, from either precision.
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
