/// Reads a code object written by Python's `marshal` module as data; nothing is run.
///
/// The format states no version, and the fields of a code object changed four times, so each layout
/// is tried until one accounts for every byte. Every attempt is bounded: an element takes at least
/// a byte, nesting is limited to `depthLimit`, and references point only backward. Referenced
/// values count again, up to `nodeLimit` values.
package struct PythonMarshal {
  package static let depthLimit = 64
  package static let byteLimit = 1 << 20
  package static let nodeLimit = 1 << 16

  /// Fields of a code object before and after its constants.
  package enum CodeLayout: CaseIterable {
    case python2
    case python3
    /// 3.8 and later, with the number of positional-only arguments.
    case python38
    /// 3.11 and later.
    case python311

    fileprivate var integers: Int {
      switch self {
      case .python2: 4
      case .python3, .python311: 5
      case .python38: 6
      }
    }
  }

  package indirect enum Value: Equatable, Sendable {
    case none
    case bool(Bool)
    case ellipsis
    case int(Int)
    case double(Double)
    case string(String)
    case bytes([UInt8])
    case tuple([Value])
    case code(PythonCode)
    /// Any other value: a complex number, a number out of range or a dictionary.
    case other
  }

  private let bytes: [UInt8]
  private let layout: CodeLayout
  private var position = 0
  private var references: [(value: Value, height: Int, nodes: Int)] = []
  private var interned: [Value] = []
  /// The nesting depth of the value that is being read.
  private var height = 0
  private var nodes = 0

  private init(_ bytes: [UInt8], _ layout: CodeLayout) {
    self.bytes = bytes
    self.layout = layout
  }

  /// The function whose code `bytes` hold; nil if they hold none.
  package static func function(_ bytes: [UInt8]) -> PythonCode? {
    guard bytes.count <= byteLimit else { return nil }
    for layout in CodeLayout.allCases {
      var reader = PythonMarshal(bytes, layout)
      if case .code(let code)? = reader.value(depth: 0), reader.position == bytes.count {
        return code
      }
    }
    return nil
  }

  private mutating func value(depth: Int) -> Value? {
    guard depth <= Self.depthLimit, let tag = byte() else { return nil }
    let isReferenced = tag & 0x80 != 0
    var slot: Int?
    if isReferenced {
      slot = references.count
      references.append((.none, 0, 0))
    }
    let (outer, earlier) = (height, nodes)
    height = 0
    nodes += 1
    guard let result = content(of: tag & 0x7F, depth: depth), nodes <= Self.nodeLimit else {
      return nil
    }
    if let slot { references[slot] = (result, height, nodes - earlier) }
    height = max(outer, height + 1)
    // References cannot be nested deeper than the objects that they contain.
    return height <= Self.depthLimit ? result : nil
  }

  private mutating func content(of tag: UInt8, depth: Int) -> Value? {
    switch UnicodeScalar(tag) {
    case "0", "N", "S": return Value.none
    case "F": return .bool(false)
    case "T": return .bool(true)
    case ".": return .ellipsis
    case "i": return integer().map { .int($0) }
    case "I": return bits64().map { .int(Int(bitPattern: UInt($0))) }
    case "g": return bits64().map { .double(Double(bitPattern: $0)) }
    case "y": return skip(16) ? .other : nil
    case "f":
      guard case .string(let digits)? = shortText() else { return nil }
      return Double(digits).map { .double($0) } ?? .other
    case "x": return shortText() == nil || shortText() == nil ? nil : .other
    case "l": return long()
    case "s": return layout == .python2 ? text(longLength()) : byteString()
    case "t":
      guard let value = text(longLength()) else { return nil }
      if layout == .python2 { interned.append(value) }
      return value
    case "R":
      guard layout == .python2, let index = integer(), interned.indices.contains(index) else {
        return nil
      }
      return interned[index]
    case "u", "a", "A": return text(longLength())
    case "z", "Z": return text(byte().map(Int.init))
    case "r":
      guard let index = integer(), references.indices.contains(index) else { return nil }
      height = max(0, references[index].height)
      nodes += references[index].nodes
      return references[index].value
    case "(": return tuple(longLength(), depth)
    case ")": return tuple(byte().map(Int.init), depth)
    case "[", "<", ">": return tuple(longLength(), depth)
    case "{": return dictionary(depth)
    case "c": return code(depth)
    default: return nil
    }
  }

  private mutating func code(_ depth: Int) -> Value? {
    var integers: [Int] = []
    for _ in 0..<layout.integers {
      guard let value = integer() else { return nil }
      integers.append(value)
    }
    guard let code = codeBytes(depth), case .tuple(let constants)? = value(depth: depth + 1),
      let names = strings(depth)
    else { return nil }
    // The integers count arguments, positional-only and keyword-only ones, local variables and
    // stack entries; the last one contains flags.
    var result = PythonCode(
      layout: layout, name: "", argumentCount: integers[0],
      keywordOnlyCount: layout == .python2
        ? 0 : integers[layout.integers - (layout == .python311 ? 3 : 4)],
      stackSize: integers[layout.integers - 2], flags: integers[layout.integers - 1], code: code,
      constants: constants, names: names, variables: [], cells: [], free: [])
    if layout == .python311 {
      guard let variables = strings(depth), let kinds = codeBytes(depth),
        kinds.count == variables.count
      else { return nil }
      result.variables = variables
      result.cells = zip(variables, kinds).filter { $1 & 0x40 != 0 }.map(\.0)
      result.free = zip(variables, kinds).filter { $1 & 0x80 != 0 }.map(\.0)
    } else {
      guard let variables = strings(depth), let free = strings(depth), let cells = strings(depth)
      else { return nil }
      (result.variables, result.free, result.cells) = (variables, free, cells)
    }
    guard case .string? = value(depth: depth + 1),
      case .string(let name)? = value(depth: depth + 1)
    else { return nil }
    result.name = name
    if layout == .python311 { guard case .string? = value(depth: depth + 1) else { return nil } }
    guard skip(4), codeBytes(depth) != nil else { return nil }
    if layout == .python311, codeBytes(depth) == nil { return nil }
    return .code(result)
  }

  /// Reads bytes. Python 2 does not distinguish them from strings.
  private mutating func codeBytes(_ depth: Int) -> [UInt8]? {
    let start = position
    switch value(depth: depth + 1) {
    case .bytes(let bytes)?: return bytes
    case .string?:
      // The raw bytes, which may not be valid text.
      guard layout == .python2, bytes[start] & 0x7F == UInt8(ascii: "s") else {
        return layout == .python2 ? [] : nil
      }
      return Array(bytes[(start + 5)..<position])
    default: return nil
    }
  }

  private mutating func strings(_ depth: Int) -> [String]? {
    guard case .tuple(let elements)? = value(depth: depth + 1) else { return nil }
    var result: [String] = []
    for element in elements {
      guard case .string(let text) = element else { return nil }
      result.append(text)
    }
    return result
  }

  private mutating func tuple(_ count: Int?, _ depth: Int) -> Value? {
    guard let count, count >= 0, count <= bytes.count - position else { return nil }
    var elements: [Value] = []
    for _ in 0..<count {
      guard let element = value(depth: depth + 1) else { return nil }
      elements.append(element)
    }
    return .tuple(elements)
  }

  /// An integer as 15-bit digits, lowest first; the sign of their count is the integer's sign.
  private mutating func long() -> Value? {
    guard let digits = integer(), digits != Int.min, abs(digits) * 2 <= bytes.count - position
    else { return nil }
    var value = 0
    var overflows = false
    for index in 0..<abs(digits) {
      let digit = Int(bytes[position]) | Int(bytes[position + 1]) << 8
      position += 2
      if index < 4 { value |= digit << (15 * index) } else if digit != 0 { overflows = true }
    }
    return overflows ? .other : .int(digits < 0 ? -value : value)
  }

  /// Skips keys and values up to a null.
  private mutating func dictionary(_ depth: Int) -> Value? {
    while position < bytes.count, bytes[position] != UInt8(ascii: "0") {
      guard value(depth: depth + 1) != nil, value(depth: depth + 1) != nil else { return nil }
    }
    return skip(1) ? .other : nil
  }

  private mutating func byteString() -> Value? {
    guard let count = longLength(), count <= bytes.count - position else { return nil }
    defer { position += count }
    return .bytes(Array(bytes[position..<position + count]))
  }

  private mutating func text(_ count: Int?) -> Value? {
    guard let count, count >= 0, count <= bytes.count - position else { return nil }
    defer { position += count }
    return .string(String(decoding: bytes[position..<position + count], as: UTF8.self))
  }

  private mutating func shortText() -> Value? { text(byte().map(Int.init)) }

  private mutating func longLength() -> Int? {
    guard let length = integer(), length >= 0 else { return nil }
    return length
  }

  private mutating func byte() -> UInt8? {
    guard position < bytes.count else { return nil }
    defer { position += 1 }
    return bytes[position]
  }

  private mutating func integer() -> Int? {
    guard bytes.count - position >= 4 else { return nil }
    defer { position += 4 }
    let unsigned = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[position + $1]) << (8 * $1) }
    return Int(Int32(bitPattern: unsigned))
  }

  private mutating func bits64() -> UInt64? {
    guard bytes.count - position >= 8 else { return nil }
    defer { position += 8 }
    return (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[position + $1]) << (8 * UInt64($1)) }
  }

  private mutating func skip(_ count: Int) -> Bool {
    guard count >= 0, count <= bytes.count - position else { return false }
    position += count
    return true
  }
}
