import Files
import TensorCore

/// Rows of text fields between commas, which may be in quotes (RFC 4180), or between semicolons or
/// tabs where the first row has no comma. Empty lines and lines that start with `#` are skipped.
package enum TextTableFile {
  package static func read(_ path: String) throws -> [[String]] {
    let bytes = try MappedFile.read(path, limit: Limits.jsonBytes)
    return try inFile(path) { try parse(bytes.array(of: UInt8.self)) }
  }

  package static func parse(_ bytes: [UInt8]) throws -> [[String]] {
    guard var text = String(validating: bytes, as: UTF8.self) else {
      throw ModelError(.malformed, "the table is not UTF-8")
    }
    if text.hasPrefix("\u{FEFF}") { text.removeFirst() }
    let first = text.prefix { !$0.isNewline }
    let separator = [",", ";", "\t"].first { first.contains($0) }.map(Character.init) ?? ","
    var rows: [[String]] = []
    var (row, field): ([String], String) = ([], "")
    var (isQuoted, wasQuoted) = (false, false)
    func trimmed(_ text: String) -> String {
      var text = text[...]
      while text.first == " " { text.removeFirst() }
      while text.last == " " { text.removeLast() }
      return String(text)
    }
    func endField() {
      row.append(wasQuoted ? field : trimmed(field))
      (field, wasQuoted) = ("", false)
    }
    func endRow() {
      endField()
      if row != [""], !row[0].hasPrefix("#") { rows.append(row) }
      row = []
    }
    var index = text.startIndex
    while index < text.endIndex {
      let character = text[index]
      index = text.index(after: index)
      if isQuoted {
        if character != "\"" {
          field.append(character)
        } else if index < text.endIndex, text[index] == "\"" {
          field.append("\"")
          index = text.index(after: index)
        } else {
          isQuoted = false
        }
      } else if character == "\"", field.allSatisfy({ $0 == " " }) {
        (field, isQuoted, wasQuoted) = ("", true, true)
      } else if character == separator {
        endField()
      } else if character.isNewline {
        endRow()
      } else {
        field.append(character)
      }
    }
    try require(!isQuoted, "a quoted field does not end")
    endRow()
    return rows
  }

  /// A line of the table.
  package static func line(_ fields: [String]) -> String {
    fields.map { field in
      guard field.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return field }
      return "\""
        + field.split(separator: "\"", omittingEmptySubsequences: false)
        .joined(separator: "\"\"") + "\""
    }.joined(separator: ",") + "\n"
  }
}
