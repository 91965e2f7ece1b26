import LibC
import TensorCore

/// Tells HDF5 files from others by their first bytes.
enum FileSignature {
  static let hdf5: [UInt8] = [0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a]

  /// The signature stands at byte 0, or after a user block at 512, 1024, 2048, …
  static func checkHDF5(descriptor: Int32, size: Int) throws {
    var offset = 0
    while offset + hdf5.count <= size {
      if read(descriptor, at: offset, count: hdf5.count) == hdf5 { return }
      offset = offset == 0 ? 512 : offset * 2
    }
    let head = read(descriptor, at: 0, count: 64)
    let (name, hint) = identify(head)
    throw ModelError(.malformed, "this is not an HDF5 file, but \(name)", hint: hint)
  }

  private static func read(_ descriptor: Int32, at offset: Int, count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = max(0, pread(descriptor, buffer.baseAddress, count, off_t(offset)))
    }
  }

  private static func identify(_ head: [UInt8]) -> (name: String, hint: String?) {
    func begins(_ text: String) -> Bool { head.starts(with: text.utf8) }
    if head.isEmpty { return ("empty", "the file has no bytes: fetch or save it again") }
    if begins("PK\u{3}\u{4}") {
      return ("a zip archive", "a .keras file is one: it must be read as that format")
    }
    if begins("version https://git-lfs") {
      return ("a Git LFS pointer", "run 'git lfs pull' to fetch the file itself")
    }
    if head.starts(with: [0x93] + Array("NUMPY".utf8)) { return ("a NumPy array (.npy)", nil) }
    if head.starts(with: [0x1f, 0x8b]) { return ("gzip-compressed", "decompress it first") }
    if head.starts(with: [0x89] + Array("PNG".utf8)) { return ("a PNG picture", nil) }
    if head.starts(with: [0xff, 0xd8, 0xff]) { return ("a JPEG picture", nil) }
    if head.starts(with: [0x80, 0x02]) || head.starts(with: [0x80, 0x04]) {
      return ("a Python pickle", "pickles are never read: save the model with model.save()")
    }
    let text = head.drop { $0 == 0x20 || $0 == 0x0a || $0 == 0x0d || $0 == 0x09 }
    switch text.first {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      return ("JSON", "an architecture .json comes first, its weights file second")
    case UInt8(ascii: "<"):
      return ("HTML or XML", "a failed download often saves a web page: fetch the file again")
    default: break
    }
    if head.allSatisfy({ $0 >= 0x20 && $0 < 0x7f || $0 == 0x0a || $0 == 0x0d || $0 == 0x09 }) {
      return ("text", nil)
    }
    return ("something else", "its first bytes are " + hex(head.prefix(8)))
  }

  private static func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
  }
}
