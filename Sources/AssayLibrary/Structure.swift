import Assay
import CAssay

/// A structure of `assay.h`, whose first field is its size.
protocol Structure {
  init()
  var size: Int { get set }
  /// The structure's size in the first version of the header.
  static var firstSize: Int { get }
}

extension assay_options: Structure {
  static var firstSize: Int { MemoryLayout.offset(of: \Self.function) ?? 0 }
}

extension assay_value: Structure {
  static var firstSize: Int { MemoryLayout<Self>.size }
}

extension Structure {
  /// Reads the structure at an address; fields missing in the caller's version are zero.
  ///
  /// - Throws: `.usage` if its size is not that of any version.
  init(at address: UnsafeRawPointer) throws {
    self.init()
    let size = address.loadUnaligned(as: Int.self)
    try require(
      (Self.firstSize...MemoryLayout<Self>.size).contains(size), .usage,
      "size is \(size), not sizeof(\(Self.self))", field: "\(Self.self)")
    withUnsafeMutableBytes(of: &self) {
      $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: size))
    }
  }

  /// Reads the structures at an address; all have the size of the first one.
  static func array(at address: UnsafeRawPointer, _ count: Int) throws -> [Self] {
    let size = try Self(at: address).size
    return try (0..<count).map { try Self(at: address + $0 * size) }
  }
}
