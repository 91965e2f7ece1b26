import TensorCore

/// Values by file path, found by a suffix of a longer path: the entry `cat/1.png`, `1.png` or
/// `cat/1` for the input `images/cat/1.png`.
struct PathTable<Value> {
  private var values: [String: Value] = [:]
  /// The input that used each entry.
  private var takers: [String: String] = [:]

  private static func parts(_ path: String) -> [Substring] {
    path.split(separator: "/").filter { $0 != "." }
  }

  /// - Throws: `.malformed` if the path has a value already.
  mutating func insert(_ path: String, _ value: Value) throws {
    let key = Self.parts(path).joined(separator: "/")
    try require(values.updateValue(value, forKey: key) == nil, "the file '\(path)' is listed twice")
  }

  /// The value for the longest suffix of `path` with an entry, ignoring the extension if necessary.
  ///
  /// - Throws: `.mismatch` if another path already used the entry, so that it is ambiguous.
  mutating func value(for path: String) throws -> Value? {
    var stem = path
    if let dot = path.lastIndex(of: "."), !path[dot...].contains("/") {
      stem = String(path[..<dot])
    }
    for name in [path, stem] {
      let parts = Self.parts(name)
      for start in parts.indices {
        let key = parts[start...].joined(separator: "/")
        guard let value = values[key] else { continue }
        if let taker = takers[key], taker != path {
          throw ModelError(
            .mismatch, "the entry '\(key)' already belongs to \(taker)", file: path,
            hint: "list the files with their folders")
        }
        takers[key] = path
        return value
      }
    }
    return nil
  }

  var count: Int { values.count }
}
