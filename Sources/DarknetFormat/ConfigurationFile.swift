/// The text of a `.cfg`: sections with names in brackets, each with lines `key = value`.
///
/// As in Darknet, all spaces are removed from lines, and lines that start with `#` or `;` are
/// skipped. If a key is repeated in a section, the first value counts.
package struct ConfigurationFile: Sendable {
  package private(set) var sections: [ConfigurationSection] = []
  /// Notes about text that Darknet ignores, silently or not.
  package private(set) var notes: [String] = []

  /// Maximum size in bytes; published configurations have tens of thousands.
  package static let sizeLimit = 16 << 20

  /// - Throws: `.malformed` with the line number.
  package init(_ bytes: Bytes) throws {
    try require(
      bytes.count <= Self.sizeLimit, .limitExceeded,
      "the configuration has \(bytes.count) bytes; the limit is \(Self.sizeLimit)"
    )
    var text = bytes.array(of: UInt8.self)[...]
    if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
    var number = 0
    while !text.isEmpty {
      let line = text.prefix { $0 != UInt8(ascii: "\n") }
      text = text.dropFirst(line.count + 1)
      number += 1
      try read(line.filter { !Self.isSpace($0) }, line: number)
    }
    guard !sections.isEmpty else { throw ModelError(.malformed, "it has no sections") }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }

  private mutating func read(_ line: [UInt8], line number: Int) throws {
    guard let first = line.first, first != UInt8(ascii: "#"), first != UInt8(ascii: ";") else {
      return
    }
    guard !line.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      throw ModelError(.malformed, "line \(number): control characters: the file is not text")
    }
    let content = line.prefix { $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: ";") }
    let text = String(decoding: content, as: UTF8.self)
    guard text.utf8.count <= Limits.nameBytes * 16 else {
      throw ModelError(.limitExceeded, "line \(number): \(text.utf8.count) bytes in one line")
    }
    if text.hasPrefix("[") {
      try require(
        text.hasSuffix("]") && text.count > 2,
        "line \(number): '\(text.prefix(60))' is not a section",
        hint: "a section is a name in brackets, such as [convolutional]")
      guard sections.count < Limits.layers else {
        throw ModelError(.limitExceeded, "line \(number): more than \(Limits.layers) sections")
      }
      sections.append(ConfigurationSection(String(text.dropFirst().dropLast()), line: number))
      return
    }
    let equals = try text.firstIndex(of: "=").orThrow(
      ModelError(
        .malformed, "line \(number): '\(text.prefix(60))' is neither a section nor key = value"))
    try require(
      !sections.isEmpty, "line \(number): '\(text.prefix(60))' comes before the first section",
      hint: "a configuration starts with [net]")
    let key = String(text[..<equals])
    let value = String(text[text.index(after: equals)...])
    guard !value.isEmpty else {
      notes.append("line \(number): '\(key)' has no value and is ignored, as in Darknet")
      return
    }
    let last = sections.count - 1
    if let other = sections[last].add(key, value, line: number) {
      notes.append(
        "line \(number): '\(key)' is repeated in [\(sections[last].name)]; Darknet uses the "
          + "first, \(other.value), of line \(other.line)")
    }
  }
}
