import Files
import TensorCore

/// Rows of text fields separated by commas, optionally in quotes (RFC 4180), or by semicolons or
/// tabs if the first row has no comma. Empty lines and lines that start with `#` are skipped.
package enum TextTableFile {
  package static func read(_ path: String) throws -> [[String]] {
    let bytes = try MappedFile.read(path, limit: Limits.jsonBytes)
    return try inFile(path) { try parse(bytes.array(of: UInt8.self)) }
  }

  package static func parse(_ bytes: [UInt8]) throws -> [[String]] {
    guard let valid = String(validating: bytes, as: UTF8.self) else {
      throw ModelError(.malformed, "the table is not UTF-8")
    }
    var text = valid.unicodeScalars[...]
    if text.first == "\u{FEFF}" { text.removeFirst() }
    let separator = separator(text)
    var rows: [[String]] = []
    var (row, field): ([String], String.UnicodeScalarView) = ([], .init())
    var (isQuoted, wasQuoted) = (false, false)
    func trimmed(_ text: String.UnicodeScalarView) -> String {
      var text = text[...]
      while text.first == " " { text.removeFirst() }
      while text.last == " " { text.removeLast() }
      return String(text)
    }
    func endField() {
      row.append(wasQuoted ? String(field) : trimmed(field))
      (field, wasQuoted) = (.init(), false)
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
        (field, isQuoted, wasQuoted) = (.init(), true, true)
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

  /// The first of comma, semicolon and tab that occurs in the first row outside of quotes.
  private static func separator(_ text: String.UnicodeScalarView.SubSequence) -> Unicode.Scalar {
    let separators: [Unicode.Scalar] = [",", ";", "\t"]
    var found: Set<Unicode.Scalar> = []
    var (isQuoted, isStart) = (false, true)
    for character in text {
      if character == "\"", isQuoted || isStart {
        isQuoted.toggle()
      } else if !isQuoted {
        if character.isNewline { break }
        let isSeparator = separators.contains(character)
        if isSeparator { found.insert(character) }
        isStart = isSeparator || isStart && character == " "
      }
    }
    return separators.first(where: found.contains) ?? ","
  }

  /// A line of the table. A field that a spreadsheet would read as a formula gets an apostrophe, as
  /// a user would type it.
  package static func line(_ fields: [String]) -> String {
    fields.map { field in
      // Spreadsheets skip a byte order mark and other characters without a glyph.
      let start = field.unicodeScalars.first { !$0.properties.isDefaultIgnorableCodePoint }
      let isFormula = ["=", "+", "-", "@", "\t", "\r"].contains { $0 == start }
      let text = isFormula && Double(field) == nil ? "'" + field : field
      let isPlain = text.unicodeScalars.allSatisfy {
        ![",", ";", "\"", "\t"].contains($0) && !$0.isNewline
      }
      return isPlain ? text : "\"" + text.escaping { $0 == "\"" ? "\"\"" : nil } + "\""
    }.joined(separator: ",") + "\n"
  }
}

extension Unicode.Scalar {
  fileprivate var isNewline: Bool { Character(self).isNewline }
}
