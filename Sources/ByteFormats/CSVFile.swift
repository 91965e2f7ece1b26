import TensorCore

/// Tables of numbers as text: one row per line, all rows of equal length.
///
/// Fields are separated by commas or, if the first row has none, by semicolons, tabs or spaces;
/// they may be quoted (RFC 4180). Empty lines and lines that start with `#` are skipped, and so is
/// a first row that contains no numbers. The decimal mark is always the point.
package enum CSVFile {
  /// Shape `[rows]` if every row has one field, otherwise `[rows, columns]`.
  package static func parse(_ bytes: Bytes) throws -> NamedArray {
    try bytes.withUnsafeBytes { text in
      var values: [Float] = []
      var overflowCount = 0
      var rowCount = 0
      var columnCount = 0
      var separator: UInt8?
      var lineNumber = 0
      var isFirstRow = true
      var start = text.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
      while start < text.count {
        let end = text[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? text.count
        let line = trimmed(text[start..<end])
        let isPair = end + 1 < text.count && text[end] == 0x0D && text[end + 1] == 0x0A
        start = end + (isPair ? 2 : 1)
        lineNumber += 1
        if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
        let mark = separator ?? Self.separator(line)
        separator = mark
        let before = values.count
        let fieldCount = try appendRow(
          line, separator: mark, lineNumber: lineNumber, mayBeTitles: isFirstRow, to: &values,
          &overflowCount)
        isFirstRow = false
        if values.count == before { continue }
        if rowCount == 0 { columnCount = fieldCount }
        try require(
          fieldCount == columnCount,
          "line \(lineNumber) has \(fieldCount) numbers, but the first row has \(columnCount)")
        rowCount += 1
      }
      guard rowCount > 0 else { throw ModelError(.malformed, "the table contains no numbers") }
      var array = NamedArray(
        Tensor(shape: columnCount == 1 ? [rowCount] : [rowCount, columnCount], values))
      array.overflowCount = overflowCount
      return array
    }
  }

  /// One row per line; an array with more than two axes has a row for each run along its last axis.
  package static func write(
    _ array: NamedArray, to write: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let columnCount = array.tensor.shape.count < 2 ? 1 : array.tensor.shape.last ?? 1
    var text: [UInt8] = []
    try array.tensor.withUnsafeElements { elements in
      for (index, value) in elements.enumerated() {
        NumberText.append(value, isInteger: array.type == .uint8, as: .csv, to: &text)
        text.append(UInt8(ascii: (index + 1) % columnCount == 0 ? "\n" : ","))
        if text.count >= 1 << 20 {
          try text.withUnsafeBytes(write)
          text.removeAll(keepingCapacity: true)
        }
      }
    }
    try text.withUnsafeBytes(write)
  }

  private typealias Line = UnsafeRawBufferPointer.SubSequence

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  private static func trimmed(_ text: Line) -> Line {
    var text = text
    while let first = text.first, isSpace(first) { text = text.dropFirst() }
    while let last = text.last, isSpace(last) { text = text.dropLast() }
    return text
  }

  private static func separator(_ line: Line) -> UInt8 {
    for mark in [",", ";", "\t"] as [Unicode.Scalar] where line.contains(UInt8(ascii: mark)) {
      return UInt8(ascii: mark)
    }
    return UInt8(ascii: " ")
  }

  /// Appends the row's numbers and returns their count, which is 0 for a row of titles.
  private static func appendRow(
    _ line: Line, separator: UInt8, lineNumber: Int, mayBeTitles: Bool, to values: inout [Float],
    _ overflowCount: inout Int
  ) throws -> Int {
    let before = values.count
    var rest = line
    var columnNumber = 0
    while true {
      columnNumber += 1
      guard let (value, length, overflows) = field(rest) else {
        let hasNumbers = values.count > before
        if mayBeTitles, !hasNumbers, isTitles(rest, separator) { return 0 }
        let found = String(decoding: rest.prefix { $0 != separator }.prefix(40), as: UTF8.self)
        throw ModelError(
          .malformed, "line \(lineNumber), field \(columnNumber): '\(found)' is not a number")
      }
      values.append(value)
      if overflows { overflowCount += 1 }
      rest = rest.dropFirst(length)
      guard let next = rest.first else { break }
      try require(
        next == separator, "line \(lineNumber), field \(columnNumber): text after the number")
      rest = rest.dropFirst()
      // A separator at the end of a line ends the row.
      if trimmed(rest).isEmpty { break }
    }
    guard values.count <= Limits.tensorElements else {
      throw ModelError(.limitExceeded, "the table has more than \(Limits.tensorElements) numbers")
    }
    return values.count - before
  }

  /// Whether the rest of a line contains no numbers.
  private static func isTitles(_ line: Line, _ separator: UInt8) -> Bool {
    line.split(separator: separator).allSatisfy { field($0)?.length != $0.count }
  }

  /// The number at the start of `text` and the bytes up to the next separator or other text.
  private static func field(_ text: Line) -> (value: Float, length: Int, overflows: Bool)? {
    var rest = text
    while let first = rest.first, isSpace(first) { rest = rest.dropFirst() }
    let isQuoted = rest.first == UInt8(ascii: "\"")
    if isQuoted { rest = trimmed(rest.dropFirst()) }
    guard let (value, length) = DecimalNumber.parse(rest) else { return nil }
    let overflows = DecimalNumber.overflows(value, rest)
    rest = rest.dropFirst(length)
    if isQuoted {
      while let first = rest.first, isSpace(first) { rest = rest.dropFirst() }
      guard rest.first == UInt8(ascii: "\"") else { return nil }
      rest = rest.dropFirst()
    }
    // Spaces before another separator belong to the field; if space is the separator, all but one
    // do.
    while rest.count > 1, let first = rest.first, isSpace(first),
      let second = rest.dropFirst().first, isSpace(second) || second == 0x2C || second == 0x3B
    {
      rest = rest.dropFirst()
    }
    return (value, text.count - rest.count, overflows)
  }
}
