/// The type of a dataset's elements as stored in the file.
package struct HDF5ElementType: Sendable, Equatable, CustomStringConvertible {
  package enum Kind: UInt8, Sendable {
    case float = 1
    case integer = 2
    case unsigned = 3
    /// A Boolean as h5py writes it, or another enumeration; read as the underlying integer.
    case enumeration = 4
    case string = 5
  }

  package var kind: Kind
  /// Bytes of one element; 0 for strings of variable length.
  package var byteCount: Int
  package var isBigEndian: Bool

  package init(kind: Kind, byteCount: Int, isBigEndian: Bool = false) {
    self.kind = kind
    self.byteCount = byteCount
    self.isBigEndian = isBigEndian
  }

  package var isInteger: Bool { kind == .integer || kind == .unsigned || kind == .enumeration }

  package var description: String {
    let bits = byteCount * 8
    let order = isBigEndian && byteCount > 1 ? " big-endian" : ""
    switch kind {
    case .float: return "float\(bits)\(order)"
    case .integer: return "int\(bits)\(order)"
    case .unsigned: return "uint\(bits)\(order)"
    case .enumeration: return "enum\(bits)\(order)"
    case .string: return byteCount == 0 ? "strings" : "strings of \(byteCount) bytes"
    }
  }
}
