import HDF5Library
import HDF5Reader
import LibC
import TensorCore

enum Fixture {
  static let packageRoot = folder(folder(folder(#filePath)))

  static func path(_ name: String) -> String { "\(packageRoot)/Fixtures/hdf5/\(name)" }

  static func folder(_ path: String) -> String {
    String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }

  static func bytes(_ path: String) -> [UInt8] {
    guard let file = fopen(path, "rb") else { return [] }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&piece, 1, piece.count, file), count > 0 {
      bytes += piece[..<count]
    }
    return bytes
  }

  /// A file that is removed after `body`.
  static func withFile<Result>(
    _ bytes: [UInt8], mode: mode_t = 0o600, _ body: (String) throws -> Result
  ) throws -> Result {
    var template = Array("/tmp/assay-test-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { unlink(path) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count <= 0 { break }
      rest = rest.dropFirst(count)
    }
    fchmod(descriptor, mode)
    close(descriptor)
    return try body(path)
  }
}

/// `make.py`'s ramp: i / 4 - 3.
func ramp(_ count: Int) -> [Float] { (0..<count).map { Float($0) / 4 - 3 } }

/// Both ways to read, by name, for parameterised tests.
enum Way: String, CaseIterable {
  case isolated
  case inProcess

  var access: HDF5Access { self == .isolated ? .isolated : .inProcess }

  func open(_ fixture: String) throws -> HDF5File {
    try HDF5File.open(Fixture.path(fixture), access: access)
  }
}
