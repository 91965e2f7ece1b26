import TensorCore

/// The dictionary at the start of an `.npy` file, format versions 1 to 3: `{'descr': '<f4',
/// 'fortran_order': False, 'shape': (2, 3), }`.
///
/// Source: `numpy/lib/format.py`. The grammar covers just these three entries; the text is never
/// evaluated.
struct NumPyHeader: Equatable {
  var type: NumericType
  var isBigEndian = false
  var isFortranOrder = false
  var shape: [Int]

  /// Product of `shape`, which `init` has checked.
  var elementCount: Int { shape.reduce(1, *) }

  init(type: NumericType, shape: [Int]) {
    self.type = type
    self.shape = shape
  }

  /// Reads magic, version, length and dictionary; afterwards `reader` is at the elements.
  init(_ reader: inout BoundedReader) throws {
    try require(
      reader.take(6) == Self.magic, "is not an .npy file: the first bytes are not '\\x93NUMPY'")
    let version = try reader.read(UInt8.self)
    _ = try reader.read(UInt8.self)
    try require(
      (1...3).contains(version), .unsupported, ".npy format version \(version) is not supported")
    let byteCount =
      version == 1 ? Int(try reader.read(UInt16.self)) : Int(try reader.read(UInt32.self))
    try require(
      byteCount <= Limits.npyHeaderBytes, .limitExceeded,
      "the .npy header has \(byteCount) bytes, the limit is \(Limits.npyHeaderBytes)")
    var literal = NumPyLiteral(text: try reader.take(byteCount).array(of: UInt8.self))
    let entries = try literal.dictionary()
    guard case .tuple(let shape)? = entries["shape"],
      case .bool(let isFortranOrder)? = entries["fortran_order"],
      case .string(let description)? = entries["descr"], entries.count == 3
    else {
      throw ModelError(
        .malformed,
        "the .npy header must have 'descr', 'fortran_order' and 'shape', and nothing else")
    }
    try checkShape(shape)
    self.shape = shape
    self.isFortranOrder = isFortranOrder
    (type, isBigEndian) = try Self.type(description)
  }

  static let magic = Bytes([0x93, 0x4E, 0x55, 0x4D, 0x50, 0x59] as [UInt8])

  private static func type(_ description: String) throws -> (NumericType, isBigEndian: Bool) {
    guard let order = description.first, "<>|=".contains(order),
      let type = NumericType(rawValue: String(description.dropFirst())),
      order != "|" || type.byteCount == 1
    else {
      throw ModelError(
        .unsupported,
        description.contains("O")
          ? "an array of Python objects cannot be read" : "element type '\(description)'",
        hint: "save the array as float32, for instance with array.astype('float32')")
    }
    return (type, order == ">")
  }

  /// The whole header as NumPy writes it: version 1, padded so that the elements start at a
  /// multiple of 64. Precondition: little-endian, in C order, rank within the limits.
  func encoded() -> [UInt8] {
    let order = type.byteCount == 1 ? "|" : "<"
    let dimensions =
      shape.count == 1 ? "\(shape[0])," : shape.map(String.init).joined(separator: ", ")
    var text =
      "{'descr': '\(order)\(type.rawValue)', 'fortran_order': False, 'shape': (\(dimensions)), }"
    // NumPy leaves room for the first axis to grow to 21 digits.
    if let first = shape.first {
      text += String(repeating: " ", count: max(0, 21 - String(first).utf8.count))
    }
    let prefixByteCount = 10
    let unpadded = prefixByteCount + text.utf8.count + 1
    text += String(repeating: " ", count: 64 - unpadded % 64) + "\n"
    let length = UInt16(text.utf8.count)
    return Self.magic.array(of: UInt8.self) + [1, 0, UInt8(length & 0xFF), UInt8(length >> 8)]
      + text.utf8
  }
}

/// Throws if a file's shape exceeds the limits. Axes of length 0 count as 1, so strides computed
/// from the shape cannot overflow either.
func checkShape(_ shape: [Int]) throws {
  try require(
    shape.count <= Limits.rank, .limitExceeded,
    "an array of \(shape.count) axes; the limit is \(Limits.rank)")
  if let axis = shape.first(where: { $0 < 0 || $0 > Limits.dimension }) {
    throw ModelError(.limitExceeded, "an axis of length \(axis) in the shape \(shape)")
  }
  _ = try checkedProduct(shape.map { max($0, 1) }, limit: Limits.tensorElements)
}

/// The subset of Python's literals used in an `.npy` header.
private struct NumPyLiteral {
  enum Value {
    case string(String)
    case bool(Bool)
    case tuple([Int])
  }

  let text: [UInt8]
  var position = 0

  mutating func dictionary() throws -> [String: Value] {
    var entries: [String: Value] = [:]
    try expect("{")
    while !accept("}") {
      let key = try string()
      try expect(":")
      guard entries.updateValue(try value(), forKey: key) == nil else {
        throw failure("a second '\(key)'")
      }
      if !accept(",") {
        try expect("}")
        break
      }
    }
    skipSpace()
    guard position == text.count else { throw failure("text after the dictionary") }
    return entries
  }

  private mutating func value() throws -> Value {
    skipSpace()
    switch text[safe: position] {
    case UInt8(ascii: "'"), UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "("): return .tuple(try tuple())
    case UInt8(ascii: "["):
      throw ModelError(.unsupported, "an array of records (structured element type)")
    default:
      for (word, value) in [("True", true), ("False", false)] where accept(word) {
        return .bool(value)
      }
      throw failure("something other than a string, True, False or a tuple")
    }
  }

  private mutating func string() throws -> String {
    skipSpace()
    guard let quote = text[safe: position], quote == 0x27 || quote == 0x22,
      let end = text[(position + 1)...].firstIndex(of: quote)
    else { throw failure("no string") }
    let content = text[position + 1..<end]
    guard !content.contains(0x5C), content.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
      throw failure("a string with escapes or control characters")
    }
    position = end + 1
    return String(decoding: content, as: UTF8.self)
  }

  private mutating func tuple() throws -> [Int] {
    try expect("(")
    var numbers: [Int] = []
    while !accept(")") {
      numbers.append(try number())
      guard numbers.count <= 64 else { throw failure("a shape of more than 64 axes") }
      if !accept(",") {
        try expect(")")
        break
      }
    }
    return numbers
  }

  private mutating func number() throws -> Int {
    skipSpace()
    let digits = text[position...].prefix { $0 >= 0x30 && $0 <= 0x39 }
    guard let number = Int(String(decoding: digits, as: UTF8.self)) else {
      throw failure("no size")
    }
    position += digits.count
    // Python 2 wrote long integers with a suffix.
    _ = text[safe: position] == UInt8(ascii: "L") ? accept("L") : false
    return number
  }

  private mutating func skipSpace() {
    while let byte = text[safe: position], byte == 0x20 || byte == 0x0A || byte == 0x09 {
      position += 1
    }
  }

  private mutating func accept(_ word: String) -> Bool {
    skipSpace()
    guard text[position...].starts(with: word.utf8) else { return false }
    position += word.utf8.count
    return true
  }

  private mutating func expect(_ word: String) throws {
    guard accept(word) else { throw failure("no '\(word)'") }
  }

  private func failure(_ found: String) -> ModelError {
    ModelError(.malformed, "the .npy header has \(found) at character \(position)")
  }
}

extension Array {
  /// The element at `index`, or nil if out of bounds.
  subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
