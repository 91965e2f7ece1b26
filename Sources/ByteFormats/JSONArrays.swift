import TensorCore

/// Arrays as JSON: a number, nested arrays of numbers, or an object of named ones.
///
/// Numbers that JSON has no word for are written as the strings `"NaN"`, `"Infinity"` and
/// `"-Infinity"`, and read so or without the quotes, as Python's `json` writes them; `true` and
/// `false` count as 1 and 0. Nested arrays must be rectangular. Numbers go straight into the
/// tensor, so that a document of millions of them needs no tree.
package enum JSONArrays {
  package static func parse(_ bytes: Bytes) throws -> ArraySet {
    try bytes.withUnsafeBytes { text in
      var parser = JSONArrayParser(text)
      return try parser.document()
    }
  }

  /// An array without a name alone, or else an object; unnamed arrays in it are `arr_0`, ….
  package static func write(
    _ set: ArraySet, to write: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var text: [UInt8] = []
    func flush() throws {
      try text.withUnsafeBytes(write)
      text.removeAll(keepingCapacity: true)
    }
    func append(_ array: NamedArray) throws {
      try array.tensor.withUnsafeElements { elements in
        var offset = 0
        func append(axis: Int) throws {
          guard axis < array.tensor.shape.count else {
            NumberText.append(
              elements[offset], isInteger: array.type == .uint8, as: .json, to: &text)
            offset += 1
            if text.count >= 1 << 20 { try flush() }
            return
          }
          text.append(UInt8(ascii: "["))
          for index in 0..<array.tensor.shape[axis] {
            if index > 0 { text += ", ".utf8 }
            try append(axis: axis + 1)
          }
          text.append(UInt8(ascii: "]"))
        }
        try append(axis: 0)
      }
    }
    if set.arrays.count == 1, set.arrays[0].name == nil {
      try append(set.arrays[0])
    } else {
      text.append(UInt8(ascii: "{"))
      for (index, array) in set.arrays.enumerated() {
        if index > 0 { text += ",\n ".utf8 }
        appendQuoted(array.name ?? "arr_\(index)", to: &text)
        text += ": ".utf8
        try append(array)
      }
      text.append(UInt8(ascii: "}"))
    }
    text.append(UInt8(ascii: "\n"))
    try flush()
  }

  private static func appendQuoted(_ string: String, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "\""))
    for byte in string.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        text += [UInt8(ascii: "\\"), byte]
      case 0..<0x20:
        let digits = Array("0123456789abcdef".utf8)
        text += "\\u00".utf8
        text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: text.append(byte)
      }
    }
    text.append(UInt8(ascii: "\""))
  }
}

private struct JSONArrayParser {
  private let text: UnsafeRawBufferPointer
  private var position = 0

  init(_ text: UnsafeRawBufferPointer) {
    self.text = text
    if text.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  mutating func document() throws -> ArraySet {
    var arrays: [NamedArray] = []
    if next() == UInt8(ascii: "{") {
      position += 1
      var names: Set<String> = []
      if next() == UInt8(ascii: "}") {
        position += 1
      } else {
        repeat {
          let name = try string()
          guard names.insert(name).inserted else { throw failure("a second '\(name)'") }
          try expect(":")
          var array = try array()
          array.name = name
          arrays.append(array)
        } while try continues(until: "}")
      }
    } else {
      arrays = [try array()]
    }
    guard next() == nil else { throw failure("text after the end") }
    return ArraySet(arrays)
  }

  private mutating func array() throws -> NamedArray {
    var shape = Shape()
    var values: [Float] = []
    try value(depth: 0, &shape, &values)
    let lengths = shape.lengths.map { $0 ?? 0 }
    try checkShape(lengths)
    return NamedArray(Tensor(shape: lengths, values))
  }

  /// Lengths of the axes, as far as they are known.
  private struct Shape {
    var lengths: [Int?] = []
    /// Depth at which the numbers lie.
    var rank: Int?
  }

  private mutating func value(
    depth: Int, _ shape: inout Shape, _ values: inout [Float]
  ) throws {
    guard next() == UInt8(ascii: "[") else {
      if let rank = shape.rank, rank != depth { throw failure("a number beside an array") }
      if shape.lengths.count > depth { throw failure("a number beside an array") }
      shape.rank = depth
      values.append(try number())
      return
    }
    guard depth < Limits.rank else {
      throw ModelError(
        .limitExceeded, "arrays nested deeper than \(Limits.rank) at byte \(position)")
    }
    if let rank = shape.rank, rank <= depth { throw failure("an array beside a number") }
    if shape.lengths.count == depth { shape.lengths.append(nil) }
    position += 1
    var count = 0
    if next() == UInt8(ascii: "]") {
      position += 1
      if shape.rank != nil || shape.lengths.count > depth + 1 {
        throw failure("an empty array beside a filled one")
      }
    } else {
      repeat {
        try value(depth: depth + 1, &shape, &values)
        count += 1
      } while try continues(until: "]")
    }
    if let length = shape.lengths[depth], length != count {
      throw failure("an array of \(count) elements beside one of \(length)")
    }
    shape.lengths[depth] = count
  }

  private static let words: [(StaticString, Float)] = [
    ("true", 1), ("false", 0), ("\"NaN\"", .nan), ("\"Infinity\"", .infinity),
    ("\"-Infinity\"", -.infinity),
  ]

  private mutating func number() throws -> Float {
    if let byte = next(), [UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "\"")].contains(byte)
    {
      for (word, value) in Self.words where accept(word) { return value }
    }
    guard let (value, length) = DecimalNumber.parse(text[position...]) else {
      throw failure("no number")
    }
    position += length
    return value
  }

  private mutating func string() throws -> String {
    try expect("\"")
    var bytes: [UInt8] = []
    while true {
      guard position < text.count, bytes.count <= Limits.nameBytes else {
        throw failure("a name without end")
      }
      let byte = text[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let name = String(validating: bytes, as: UTF8.self) else {
          throw failure("a name that is not UTF-8")
        }
        return name
      case UInt8(ascii: "\\"): try bytes.append(contentsOf: escape())
      case 0..<0x20: throw failure("a control character in a name")
      default: bytes.append(byte)
      }
    }
  }

  /// The UTF-8 of an escape sequence whose backslash has been read.
  private mutating func escape() throws -> [UInt8] {
    guard position < text.count else { throw failure("a name without end") }
    let byte = text[position]
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"):
      var code = UInt32(try codeUnit())
      if code & 0xFC00 == 0xD800, accept("\\u") {
        let low = UInt32(try codeUnit())
        guard low & 0xFC00 == 0xDC00 else { throw failure("half a character") }
        code = 0x10000 + (code & 0x3FF) << 10 + (low & 0x3FF)
      }
      guard let scalar = Unicode.Scalar(code) else { throw failure("half a character") }
      return Array(String(scalar).utf8)
    default: throw failure("an unknown escape")
    }
  }

  private mutating func codeUnit() throws -> UInt16 {
    guard position + 4 <= text.count,
      let unit = UInt16(String(decoding: text[position..<position + 4], as: UTF8.self), radix: 16)
    else { throw failure("an unknown escape") }
    position += 4
    return unit
  }

  /// The first byte that is no white space, without taking it.
  private mutating func next() -> UInt8? {
    while position < text.count {
      let byte = text[position]
      if byte != 0x20, byte != 0x0A, byte != 0x0D, byte != 0x09 { return byte }
      position += 1
    }
    return nil
  }

  /// Takes a comma, after which the list goes on, or its end.
  private mutating func continues(until end: Unicode.Scalar) throws -> Bool {
    guard let byte = next(), byte == UInt8(ascii: ",") || byte == UInt8(ascii: end) else {
      throw failure("neither ',' nor '\(end)'")
    }
    position += 1
    return byte == UInt8(ascii: ",")
  }

  private mutating func accept(_ word: StaticString) -> Bool {
    let bytes = UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
    guard text[position...].starts(with: bytes) else { return false }
    position += bytes.count
    return true
  }

  private mutating func expect(_ word: Unicode.Scalar) throws {
    guard next() == UInt8(ascii: word) else { throw failure("no '\(word)'") }
    position += 1
  }

  private func failure(_ found: String) -> ModelError {
    ModelError(.malformed, "\(found) at byte \(position) of the JSON text")
  }
}
