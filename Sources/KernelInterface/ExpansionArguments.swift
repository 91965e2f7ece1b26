/// How the compressed values of a weight are stored.
package enum CompressedFormat: @unchecked Sendable {
  // `@unchecked`: a table is never written.
  /// IEEE 754 binary16.
  case half
  /// `scale · code + bias`, rounded once.
  case linear(bits: Int, scale: Float, bias: Float)
  /// `table[code]`, from a `CodeTable` for as many bits.
  case table(bits: Int, UnsafePointer<Float>)
}

/// `output[i] = value of element first + i`, for `count` elements.
///
/// Codes of 1 to 8 bits follow one another without gaps, the first of a byte in its highest bits.
package struct ExpansionArguments: @unchecked Sendable {
  /// Of element 0; possibly unaligned. Nothing is read but the bytes in which the elements lie.
  package var source: UnsafeRawPointer
  package var format: CompressedFormat
  package var first: Int
  package var count: Int
  package var output: UnsafeMutablePointer<Float>

  package init(
    source: UnsafeRawPointer, format: CompressedFormat, first: Int, count: Int,
    output: UnsafeMutablePointer<Float>
  ) {
    self.source = source
    self.format = format
    self.first = first
    self.count = count
    self.output = output
  }
}

/// A table of values by their code, as `expandWeights` reads it: the values, at least 16, and behind
/// them, where codes fill bytes evenly, the values of all codes of each of the 256 bytes.
package enum CodeTable {
  /// The values themselves, of which the rest is zeros.
  package static func count(bits: Int) -> Int { max(16, 1 << bits) }

  /// - Parameter values: 2^bits of them.
  package static func floats(_ values: [Float], bits: Int) -> [Float] {
    var floats = values + [Float](repeating: 0, count: max(0, count(bits: bits) - values.count))
    guard bits < 8, 8 % bits == 0 else { return floats }
    floats.reserveCapacity(floats.count + 256 * 8 / bits)
    for byte in 0..<256 {
      var shift = 8 - bits
      while shift >= 0 {
        floats.append(values[byte >> shift & ((1 << bits) - 1)])
        shift -= bits
      }
    }
    return floats
  }
}
