import TensorCore

/// Changes protobuf texts by their tokens: values become others; fields and messages are removed,
/// duplicated, swapped, or copied from other texts.
package struct TextMutator: Sendable {
  /// A field with its value or message, as tokens.
  private let fields: [[String]]
  private let values: [String]

  package init(seeds: [[UInt8]]) {
    var values: Set<String> = []
    var fields: Set<[String]> = []
    for seed in seeds {
      let text = Tokens(seed)
      for range in text.fields where range.count < 60 {
        fields.insert(Array(text.tokens[range]))
        if range.count == 3 { values.insert(text.tokens[range.upperBound - 1]) }
      }
    }
    self.values = values.sorted()
    self.fields = fields.sorted { $0.joined(separator: " ") < $1.joined(separator: " ") }
  }

  /// Makes one to five changes, usually few.
  package func mutated(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
    var text = Tokens(bytes)
    for _ in 0...random.below(1 + random.below(5)) {
      let ranges = text.fields
      guard !ranges.isEmpty else { return bytes.damaged(&random) }
      change(&text, random.pick(ranges), ranges, &random)
    }
    return Array(text.tokens.joined(separator: " ").utf8)
  }

  private func change(
    _ text: inout Tokens, _ range: Range<Int>, _ ranges: [Range<Int>], _ random: inout SplitMix64
  ) {
    let field = Array(text.tokens[range])
    switch random.below(12) {
    case 0: text.tokens.removeSubrange(range)
    case 1: text.tokens.insert(contentsOf: field, at: range.lowerBound)
    case 2:
      // A message may replace a part of itself, too.
      let other = random.pick(ranges)
      text.tokens.replaceSubrange(range, with: Array(text.tokens[other]))
    case 3, 4:
      if !fields.isEmpty {
        text.tokens.insert(contentsOf: random.pick(fields), at: range.upperBound)
      }
    case 5:
      // Inserts a field into a message.
      if field.count > 3, !fields.isEmpty {
        text.tokens.insert(contentsOf: random.pick(fields), at: range.upperBound - 1)
      }
    default:
      guard field.count == 3, !values.isEmpty else { return }
      text.tokens[range.upperBound - 1] = value(insteadOf: field[2], &random)
    }
  }

  private func value(insteadOf old: String, _ random: inout SplitMix64) -> String {
    if old.hasPrefix("\"") || old.hasPrefix("'") {
      let quoted = values.filter { $0.hasPrefix("\"") || $0.hasPrefix("'") }
      if random.below(4) > 0, !quoted.isEmpty { return random.pick(quoted) }
      let text = HostileValues.string(&random, []).filter { $0 != "\n" && $0 != "\"" }
      return "\"\(text)\""
    }
    switch random.below(5) {
    case 0: return random.pick(values)
    case 1: return "\(HostileValues.number(&random))"
    default: return "\(HostileValues.integer(&random))"
    }
  }
}

/// The tokens of a text, and the ranges of its fields.
private struct Tokens {
  var tokens: [String] = []

  init(_ bytes: [UInt8]) {
    var token: [UInt8] = []
    var quote: UInt8?
    var isComment = false
    func isSymbol(_ byte: UInt8) -> Bool { "{}[]<>:,;".utf8.contains(byte) }
    for byte in bytes {
      if isComment {
        isComment = byte != UInt8(ascii: "\n")
        continue
      }
      if let open = quote {
        token.append(byte)
        if byte == open { quote = nil }
        continue
      }
      let isSpace = byte <= UInt8(ascii: " ")
      if isSpace || isSymbol(byte) || byte == UInt8(ascii: "#") {
        if !token.isEmpty { tokens.append(String(decoding: token, as: UTF8.self)) }
        token = []
        isComment = byte == UInt8(ascii: "#")
        if isSymbol(byte) { tokens.append(String(decoding: [byte], as: UTF8.self)) }
      } else {
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { quote = byte }
        token.append(byte)
      }
    }
    if !token.isEmpty { tokens.append(String(decoding: token, as: UTF8.self)) }
  }

  /// `name : value` and `name { … }`, at every depth.
  var fields: [Range<Int>] {
    var result: [Range<Int>] = []
    var open: [Int] = []
    for (index, token) in tokens.enumerated() {
      switch token {
      case "{", "<":
        let hasColon = index > 0 && tokens[index - 1] == ":"
        open.append(max(0, index - (hasColon ? 2 : 1)))
      case "}", ">":
        if let begin = open.popLast() { result.append(begin..<index + 1) }
      case ":" where index > 0 && index + 1 < tokens.count:
        if !["{", "<", "["].contains(tokens[index + 1]) { result.append(index - 1..<index + 2) }
      default: break
      }
    }
    return result
  }
}
