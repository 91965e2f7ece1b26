/// Reads a code object that Python's `marshal` module wrote, as data: nothing is run.
///
/// The format names no version, and the fields of a code object changed four times, so each layout
/// is tried until one fits to the last byte. Every attempt is bounded: elements take at least a
/// byte each, nesting at most `depthLimit`, and references point back only.
struct PythonMarshal {
  static let depthLimit = 64
  static let byteLimit = 1 << 20

  /// Fields of a code object before and after its constants.
  enum CodeLayout: CaseIterable {
    case python2
    case python3
    /// From 3.8 on, with a count of positional-only arguments.
    case python38
    /// From 3.11 on.
    case python311

    fileprivate var integers: Int {
      switch self {
      case .python2: 4
      case .python3, .python311: 5
      case .python38: 6
      }
    }
  }

  indirect enum Value: Equatable {
    case none
    case number
    case string(String)
    case bytes(Int)
    case tuple([Value])
    case code(name: String)
  }

  private let bytes: [UInt8]
  private let layout: CodeLayout
  private var position = 0
  private var references: [Value] = []
  private var interned: [Value] = []

  private init(_ bytes: [UInt8], _ layout: CodeLayout) {
    self.bytes = bytes
    self.layout = layout
  }

  /// The name of the function whose code `bytes` hold; nil where they hold none.
  static func functionName(_ bytes: [UInt8]) -> String? {
    guard bytes.count <= byteLimit else { return nil }
    for layout in CodeLayout.allCases {
      var reader = PythonMarshal(bytes, layout)
      if case .code(let name)? = reader.value(depth: 0), reader.position == bytes.count {
        return name
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
      references.append(.none)
    }
    guard let result = content(of: tag & 0x7F, depth: depth) else { return nil }
    if let slot { references[slot] = result }
    return result
  }

  private mutating func content(of tag: UInt8, depth: Int) -> Value? {
    switch UnicodeScalar(tag) {
    case "0", "N", "F", "T", "S", ".": return Value.none
    case "i": return skip(4) ? .number : nil
    case "I", "g": return skip(8) ? .number : nil
    case "y": return skip(16) ? .number : nil
    case "f": return shortText() == nil ? nil : .number
    case "x": return shortText() == nil || shortText() == nil ? nil : .number
    case "l":
      guard let digits = integer(), digits != Int.min, skip(abs(digits) * 2) else { return nil }
      return .number
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
      return references[index]
    case "(": return tuple(longLength(), depth)
    case ")": return tuple(byte().map(Int.init), depth)
    case "[", "<", ">": return tuple(longLength(), depth)
    case "{": return dictionary(depth)
    case "c": return code(depth)
    default: return nil
    }
  }

  private mutating func code(_ depth: Int) -> Value? {
    guard skip(4 * layout.integers), isBytes(value(depth: depth + 1)) else { return nil }
    // Constants, names.
    guard case .tuple? = value(depth: depth + 1), case .tuple? = value(depth: depth + 1) else {
      return nil
    }
    if layout == .python311 {
      guard case .tuple? = value(depth: depth + 1), isBytes(value(depth: depth + 1)) else {
        return nil
      }
    } else {
      // Local, free and cell variables.
      for _ in 0..<3 { guard case .tuple? = value(depth: depth + 1) else { return nil } }
    }
    guard case .string? = value(depth: depth + 1),
      case .string(let name)? = value(depth: depth + 1)
    else { return nil }
    if layout == .python311 {
      guard case .string? = value(depth: depth + 1) else { return nil }
    }
    guard skip(4), isBytes(value(depth: depth + 1)) else { return nil }
    if layout == .python311, !isBytes(value(depth: depth + 1)) { return nil }
    return .code(name: name)
  }

  /// Python 2 does not tell strings from bytes.
  private func isBytes(_ value: Value?) -> Bool {
    switch value {
    case .bytes?: true
    case .string?: layout == .python2
    default: false
    }
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

  /// Keys and values up to a null.
  private mutating func dictionary(_ depth: Int) -> Value? {
    while position < bytes.count, bytes[position] != UInt8(ascii: "0") {
      guard value(depth: depth + 1) != nil, value(depth: depth + 1) != nil else { return nil }
    }
    return skip(1) ? .tuple([]) : nil
  }

  private mutating func byteString() -> Value? {
    guard let count = longLength(), skip(count) else { return nil }
    return .bytes(count)
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

  private mutating func skip(_ count: Int) -> Bool {
    guard count >= 0, count <= bytes.count - position else { return false }
    position += count
    return true
  }
}
