import CoreMLModel
import TensorCore

/// Codes in rows of equal length, and the values that they represent.
struct RowCodes: Sendable {
  enum Values: Sendable {
    /// One scale and bias per row.
    case linear(scale: [Float], bias: [Float])
    case table([Float])
  }

  let source: Bytes
  let bits: Int
  let rows: Int
  let values: Values

  /// Writes the bytes of eight rows as `target[place(k) · stride + row]`. Repeats the last row past
  /// the end.
  ///
  /// - Parameter place: nil is k itself.
  func transpose(
    from first: Int, count: Int, to target: UnsafeMutablePointer<UInt8>, stride: Int,
    _ place: ((Int) -> Int)? = nil
  ) {
    source.withUnsafeBytes { bytes in
      var k = 0
      while k < count {
        let length = min(8, count - k)
        var square = SIMD8<UInt64>.zero
        for row in 0..<8 {
          let start = min(first + row, rows - 1) * count + k
          square[row] =
            bits == 8 && length == 8
            ? bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
            : codes(bytes, start, length)
        }
        exchange(&square)
        for index in 0..<length {
          UnsafeMutableRawPointer(target + (place?(k + index) ?? k + index) * stride)
            .storeBytes(of: square[index], as: UInt64.self)
        }
        k += 8
      }
    }
  }

  /// `count` codes starting at `first`, with the first in the lowest byte.
  private func codes(_ bytes: UnsafeRawBufferPointer, _ first: Int, _ count: Int) -> UInt64 {
    var codes: UInt64 = 0
    if count == 8 && (first * bits) & 7 == 0 {
      let start = first * bits / 8
      var word: UInt64 = 0
      for index in 0..<bits { word = word << 8 | UInt64(bytes[start + index]) }
      let mask: UInt64 = (1 << UInt64(bits)) - 1
      for index in 0..<8 {
        let code = (word >> UInt64(bits * (7 - index))) & mask
        codes |= code << UInt64(8 * index)
      }
      return codes
    }
    let packed = PackedCodes(bytes, bits: bits)
    for index in 0..<count { codes |= UInt64(packed[first + index]) << UInt64(8 * index) }
    return codes
  }

  /// Transposes a square of eight rows of eight bytes.
  private func exchange(_ square: inout SIMD8<UInt64>) {
    func exchange(_ step: Int, _ shift: UInt64, _ mask: UInt64) {
      for row in 0..<8 where row & step == 0 {
        let (a, b) = (square[row], square[row + step])
        square[row] = a & mask | (b & mask) << shift
        square[row + step] = a >> shift & mask | b & ~mask
      }
    }
    exchange(4, 32, 0x0000_0000_ffff_ffff)
    exchange(2, 16, 0x0000_ffff_0000_ffff)
    exchange(1, 8, 0x00ff_00ff_00ff_00ff)
  }
}
