/// Removes numbers and quotes around the labels in the lines of a label file.
enum LabelLines {
  /// The labels without numbers and quotes if every line has them.
  static func bare(_ lines: [String]) -> [String] {
    let labels = withoutNumbers(lines) ?? lines
    return withoutQuotes(labels) ?? labels
  }

  /// The lines without the prefixes `0:`, `1:`, … or `1:`, `2:`, …; nil if any line has a wrong
  /// number, no number, or nothing after it.
  static func withoutNumbers(_ lines: [String]) -> [String]? {
    guard lines.count > 1 else { return nil }
    var labels: [String] = []
    var first: Int?
    for (index, line) in lines.enumerated() {
      let digits = line.prefix { $0.isASCII && $0.isNumber }
      guard let number = Int(digits), number - index == first ?? number,
        (0...1).contains(number - index)
      else { return nil }
      first = number - index
      let rest = line.dropFirst(digits.count)
      guard let separator = rest.first else { return nil }
      let label = String(rest.dropFirst().drop { $0 == " " || $0 == "\t" })
      guard ":\t,".contains(separator) || (separator == " " && WordNet.split(label) != nil),
        !label.isEmpty
      else { return nil }
      labels.append(label)
    }
    return labels
  }

  /// The lines without the quotes around them; nil if any line has no quotes, different ones, or
  /// nothing between them.
  static func withoutQuotes(_ lines: [String]) -> [String]? {
    let quotes: Set<Character> = ["'", "\""]
    var labels: [String] = []
    for line in lines {
      guard line.count > 2, let quote = line.first, quotes.contains(quote), line.last == quote
      else { return nil }
      labels.append(String(line.dropFirst().dropLast()))
    }
    return labels
  }
}

/// Labels in ImageNet's synset files.
package enum WordNet {
  /// `n02123045` and `tabby, tabby cat` for `n02123045 tabby, tabby cat`; nil if the label does not
  /// start with an identifier.
  package static func split(_ label: String) -> (identifier: String, name: String)? {
    let bytes = Array(label.utf8)
    guard bytes.count > 10, bytes[0] == UInt8(ascii: "n"),
      bytes[1..<9].allSatisfy({ (0x30...0x39).contains($0) }), bytes[9] == 0x20 || bytes[9] == 0x09
    else { return nil }
    let name = String(decoding: bytes[10...].drop { $0 == 0x20 || $0 == 0x09 }, as: UTF8.self)
    return name.isEmpty ? nil : (String(decoding: bytes[..<9], as: UTF8.self), name)
  }
}
