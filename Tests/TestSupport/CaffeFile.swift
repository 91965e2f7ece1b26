/// The parts of a `.caffemodel`, a sequence of layers.
package enum CaffeFile {
  package static func varint(_ value: Int) -> [UInt8] {
    value < 128 ? [UInt8(value)] : [UInt8(value & 127) | 128] + varint(value >> 7)
  }

  package static func field(_ number: Int, _ bytes: [UInt8]) -> [UInt8] {
    varint(number << 3 | 2) + varint(bytes.count) + bytes
  }

  package static func singles(_ values: [Float]) -> [UInt8] {
    field(5, values.flatMap { withUnsafeBytes(of: $0, Array.init) })
  }

  package static func doubles(_ values: [Double]) -> [UInt8] {
    field(8, values.flatMap { withUnsafeBytes(of: $0, Array.init) })
  }

  package static func shape(_ sizes: Int...) -> [UInt8] {
    field(7, field(1, sizes.flatMap(varint)))
  }

  /// num, channels, height and width.
  package static func legacy(_ sizes: Int...) -> [UInt8] {
    sizes.enumerated().flatMap { varint(($0 + 1) << 3) + varint($1) }
  }

  package static func layer(_ name: String, _ type: String, _ blobs: [UInt8]...) -> [UInt8] {
    field(
      100, field(1, Array(name.utf8)) + field(2, Array(type.utf8)) + blobs.flatMap { field(7, $0) })
  }
}
