/// How the compressed values of a weight are stored.
package enum CompressedFormat: @unchecked Sendable {
  // `@unchecked`: a table is never written.
  /// IEEE 754 binary16.
  case half
  /// `scale · code + bias`, rounded once.
  case linear(bits: Int, scale: Float, bias: Float)
  /// `table[code]`, from a `CodeTable` for the same number of bits.
  case table(bits: Int, UnsafePointer<Float>)
}

/// `output[i] = value of element first + i`, for `count` elements.
///
/// Codes of 1 to 8 bits are contiguous; the first code of a byte is in its highest bits.
package struct ExpansionArguments: @unchecked Sendable {
  /// Address of element 0; possibly unaligned. Only the bytes that contain the elements are read.
  package var source: UnsafeRawPointer
  package var format: CompressedFormat
  package var first: Int
  package var count: Int
  package var output: UnsafeMutablePointer<Float>
  /// Whether to round the values of linear codes to half precision.
  package var roundsToHalf = false

  package init(
    source: UnsafeRawPointer, format: CompressedFormat, first: Int, count: Int,
    output: UnsafeMutablePointer<Float>
  ) {
    (self.source, self.format, self.first, self.count) = (source, format, first, count)
    self.output = output
  }
}

/// A table of values by code for `expandWeights`: at least 16 values. If codes fill bytes evenly,
/// the values of all codes in each of the 256 bytes follow.
package enum CodeTable {
  /// Number of values, padded with zeros.
  package static func count(bits: Int) -> Int { max(16, 1 << bits) }

  /// - Parameter values: 2^bits values.
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
