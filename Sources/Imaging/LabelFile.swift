import ByteFormats
import Files
import TensorCore

/// Class labels of a classifier, in output order.
package enum LabelFile: Sendable, Equatable {
  case strings([String])
  case integers([Int64])

  package var count: Int {
    switch self {
    case .strings(let labels): labels.count
    case .integers(let labels): labels.count
    }
  }

  /// Reads class labels from one of these formats:
  /// - a text file with one label per line
  /// - a JSON list of strings or of integers
  /// - an object that maps indices to labels, `{"0": "tench", …}`, or to Keras's pairs, `{"0":
  ///   ["n01440764", "tench"], …}`, whose second element is the label; also as Python prints it,
  ///   `{0: 'tench', …}`
  ///
  /// Text is UTF-8, with or without a byte order mark. Lines end in LF or CRLF, and the last one
  /// may be blank. If every line starts with its index (counted from 0 or 1 and followed by a
  /// colon, a tab or a comma, or by a space before a WordNet identifier), the indices are removed.
  /// If every line is in quotes, the quotes are removed. Otherwise labels are unchanged.
  package static func read(_ path: String) throws -> LabelFile {
    let bytes = try MappedFile.read(path, limit: Limits.jsonBytes)
    return try inFile(path == "-" ? "standard input" : path) {
      let format = FileFormat(bytes)
      switch format {
      case .foreign, .hdf5, .zip, .numPy, .png, .jpeg, .coreML, .caffeBinary:
        throw format.error(expected: "labels")
      default: return try parse(bytes)
      }
    }
  }

  package static func parse(_ bytes: Bytes) throws -> LabelFile {
    var content = bytes.array(of: UInt8.self)[...]
    if content.starts(with: [0xEF, 0xBB, 0xBF]) { content = content.dropFirst(3) }
    let first = content.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    guard let first else { throw ModelError(.malformed, "the label file is empty") }
    // A label takes many times the memory of its separator.
    let separators = content.reduce(0) { $0 + ($1 == 0x0A ? 1 : 0) }
    try require(
      separators <= Limits.classLabels, .limitExceeded,
      "\(separators) lines are more than the limit of \(Limits.classLabels) labels")
    if first == UInt8(ascii: "{"), let labels = try printedByPython(content) {
      return .strings(labels)
    }
    return first == UInt8(ascii: "[") || first == UInt8(ascii: "{")
      ? try json(Array(content)) : .strings(LabelLines.bare(try lines(content)))
  }

  /// The labels of `{0: 'tench', 1: …}` with one entry per line; nil for any other content.
  private static func printedByPython(_ content: ArraySlice<UInt8>) throws -> [String]? {
    guard var text = String(validating: content, as: UTF8.self), !text.contains("\0") else {
      return nil
    }
    while let last = text.last, last.isWhitespace { text.removeLast() }
    while let start = text.first, start.isWhitespace { text.removeFirst() }
    guard text.hasPrefix("{"), text.hasSuffix("}") else { return nil }
    let lines = text.dropFirst().dropLast().split(whereSeparator: \.isNewline).map { line in
      var line = line.drop { $0.isWhitespace }
      while let last = line.last, last.isWhitespace || last == "," { line.removeLast() }
      return String(line)
    }.filter { !$0.isEmpty }
    guard !lines.isEmpty, let numbered = LabelLines.withoutNumbers(lines) else { return nil }
    return LabelLines.withoutQuotes(numbered)
  }

  private static func lines(_ content: ArraySlice<UInt8>) throws -> [String] {
    var lines = content.split(separator: 0x0A, omittingEmptySubsequences: false).map {
      $0.last == 0x0D ? $0.dropLast() : $0
    }
    if lines.last?.isEmpty == true { lines.removeLast() }
    return try lines.enumerated().map { index, line in
      try require(!line.isEmpty, "line \(index + 1) of the label file is blank")
      guard let label = String(validating: line, as: UTF8.self), !label.contains("\0"),
        line.count <= Limits.nameBytes
      else { throw ModelError(.malformed, "line \(index + 1) of the label file is not UTF-8") }
      return label
    }
  }

  private static func json(_ content: [UInt8]) throws -> LabelFile {
    let json = try? JSONValue(parsing: content)
    if let elements = json?.array, !elements.isEmpty {
      let strings = elements.compactMap(\.string)
      if strings.count == elements.count { return .strings(strings) }
      let integers = elements.compactMap(\.int)
      if integers.count == elements.count { return .integers(integers.map { Int64($0) }) }
    }
    if let object = json?.object {
      let strings = object.members.compactMap(\.value.string)
      if strings.count == object.members.count {
        return .strings(try ordered(object).compactMap(\.string))
      }
      let isPairs = object.members.allSatisfy { member in
        member.value.array?.allSatisfy { $0.string != nil } == true
      }
      if isPairs {
        return .strings(
          try ordered(object).enumerated().map { position, pair in
            guard let pair = pair.array, pair.count == 2, let name = pair[1].string else {
              throw ModelError(.malformed, "label \(position) is not a pair of identifier and name")
            }
            return name
          })
      }
    }
    throw ModelError(
      .malformed, "the JSON is not a list of labels",
      hint: "a label file contains a list of strings or integers, or one label per line")
  }

  /// The values of the keys "0", "1", … without gaps.
  private static func ordered(_ labels: JSONObject) throws -> [JSONValue] {
    let count = labels.members.count
    guard count > 0 else { throw ModelError(.malformed, "the label file is empty") }
    return try (0..<count).map { position in
      guard let label = labels[String(position)] else {
        throw ModelError(.malformed, "none of the \(count) labels has the number \(position)")
      }
      return label
    }
  }
}
