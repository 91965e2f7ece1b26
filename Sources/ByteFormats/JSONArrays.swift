import TensorCore

/// Arrays as JSON: a number, nested arrays of numbers, or an object of named ones.
///
/// Numbers that JSON cannot express are written as the strings `"NaN"`, `"Infinity"` and
/// `"-Infinity"`. They are read with or without the quotes, since Python's `json` omits them.
/// `true` and `false` count as 1 and 0. Nested arrays must be rectangular. Numbers go straight into
/// the tensor, so a document with millions of them needs no tree.
package enum JSONArrays {
  package static func parse(_ bytes: Bytes) throws -> ArraySet {
    try bytes.withUnsafeBytes { text in
      var reader = JSONReader(text, isStrict: true)
      var arrays: [NamedArray] = []
      if reader.next() == UInt8(ascii: "{") {
        var names: Set<String> = []
        try reader.members { reader, name in
          guard name.utf8.count <= Limits.nameBytes else {
            throw reader.error("a name has \(name.utf8.count) bytes", .limitExceeded)
          }
          guard names.insert(name).inserted else { throw reader.error("'\(name)' is repeated") }
          arrays.append(try reader.array(name))
        }
      } else {
        arrays = [try reader.array()]
      }
      try reader.expectEnd()
      return ArraySet(arrays)
    }
  }

  /// Writes a single unnamed array as such and anything else as an object, in which an unnamed
  /// array is called `arr_0`, ….
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
        text += JSONValue.quoted(array.name ?? "arr_\(index)").utf8
        text += ": ".utf8
        try append(array)
      }
      text.append(UInt8(ascii: "}"))
    }
    text.append(UInt8(ascii: "\n"))
    try flush()
  }
}

extension JSONReader {
  /// Lengths of the axes known so far.
  private struct Shape {
    var lengths: [Int?] = []
    /// The nesting depth of the numbers.
    var rank: Int?
    var overflowCount = 0
  }

  fileprivate mutating func array(_ name: String? = nil) throws -> NamedArray {
    var shape = Shape()
    var values: [Float] = []
    try elements(depth: 0, &shape, &values)
    let lengths = shape.lengths.map { $0 ?? 0 }
    try checkShape(lengths)
    var array = NamedArray(Tensor(shape: lengths, values), name: name)
    array.overflowCount = shape.overflowCount
    return array
  }

  private mutating func elements(depth: Int, _ shape: inout Shape, _ values: inout [Float]) throws {
    guard next() == UInt8(ascii: "[") else {
      guard shape.rank ?? depth == depth, shape.lengths.count <= depth else {
        throw error("a number is mixed with arrays")
      }
      shape.rank = depth
      values.append(try number(&shape))
      return
    }
    guard depth < Limits.rank else {
      throw error("arrays nested deeper than \(Limits.rank)", .limitExceeded)
    }
    if let rank = shape.rank, rank <= depth { throw error("an array is mixed with numbers") }
    if shape.lengths.count == depth { shape.lengths.append(nil) }
    var count = 0
    try list(until: "]") { reader in
      try reader.elements(depth: depth + 1, &shape, &values)
      count += 1
    }
    if count == 0, shape.rank != nil || shape.lengths.count > depth + 1 {
      throw error("an empty array is mixed with filled ones")
    }
    if let length = shape.lengths[depth], length != count {
      throw error("arrays of \(count) and of \(length) elements are mixed")
    }
    shape.lengths[depth] = count
  }

  private static let words: [(StaticString, Float)] = [
    ("true", 1), ("false", 0), ("\"NaN\"", .nan), ("\"Infinity\"", .infinity),
    ("\"-Infinity\"", -.infinity),
  ]

  private mutating func number(_ shape: inout Shape) throws -> Float {
    if let byte = next(), [UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "\"")].contains(byte)
    {
      for (word, value) in Self.words where accept(word) { return value }
    }
    guard let (value, length) = DecimalNumber.parse(text[position...]) else {
      throw error("no number")
    }
    if DecimalNumber.overflows(value, text[position...]) { shape.overflowCount += 1 }
    skip(length)
    return value
  }
}
