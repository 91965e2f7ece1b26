import CVector
import KernelInterface

/// The addresses of the codes from column `k` on in a `FixedRow`: their high and low bits.
@inline(__always)
func fixedAddresses(
  _ row: UnsafeRawPointer, _ k: Int
) -> (high: UnsafeRawPointer, low: UnsafeRawPointer) {
  let block = k & -FixedRow.blockColumns
  return (row + (block &+ 2 &* k), row + (2 &* block &+ k &+ 2 &* FixedRow.blockColumns))
}

/// One vector of codes of a `FixedRow`, starting at column `k`, a multiple of the vector's lanes.
@inline(__always)
func loadFixed(_ row: UnsafeRawPointer, _ k: Int) -> Vector {
  let (high, low) = fixedAddresses(row, k)
  return vector_from_int(vector_load_fixed(high, low))
}

extension Table {
  @inline(never)
  package static func packFixedRow(
    _ source: UnsafeRawPointer, columns: Int, to packed: UnsafeMutableRawPointer
  ) -> FixedRowSummary {
    // The bit patterns of magnitudes are ordered like the magnitudes, with infinity above all
    // numbers and NaN above infinity.
    let largest = largestMagnitude(source, columns).bitPattern
    let padded = FixedRow.paddedColumns(columns)
    if largest == 0 {
      packed.initializeMemory(
        as: UInt8.self, repeating: 0, count: padded &* FixedRow.bytesPerColumn)
      return FixedRowSummary(scale: 0, peak: 0)
    }
    // The scale's exponent is 22 below that of the largest magnitude, which then has 23 bits before
    // the binary point.
    let exponent = largest &>> 23
    guard exponent > 22, exponent < 255 else {
      return FixedRowSummary(scale: .nan, peak: .infinity)
    }
    let inverse = splat(Float(bitPattern: (276 &- exponent) &<< 23))
    var sum = 0
    var block = 0
    while block < padded {
      var magnitudes = IntegerVector.zero
      var k = block
      while k < block &+ FixedRow.blockColumns {
        let codes = fixedCodes(source, columns, k, inverse)
        let (high, low) = fixedAddresses(packed, k)
        vector_store_fixed(
          codes, UnsafeMutableRawPointer(mutating: high), UnsafeMutableRawPointer(mutating: low))
        magnitudes = magnitudes &+ shiftRight(vector_maximum(codes, .zero &- codes), 8)
        k &+= lanes
      }
      sum &+= Int(vector_sum(magnitudes))
      block &+= FixedRow.blockColumns
    }
    let scale = Float(bitPattern: (exponent &- 22) &<< 23)
    let code = Double(Float(bitPattern: largest)) / Double(scale)
    return FixedRowSummary(scale: scale, peak: code * Double(columns) / Double(sum &<< 8))
  }
}

/// The largest magnitude; NaN if any of the values is NaN.
@inline(__always)
private func largestMagnitude(_ source: UnsafeRawPointer, _ columns: Int) -> Float {
  var largest = IntegerVector.zero
  var k = 0
  while k &+ lanes <= columns {
    let value = (source + k &* 4).loadUnaligned(as: Vector.self)
    largest = vector_maximum(largest, bits(magnitude(value)))
    k &+= lanes
  }
  if k < columns {
    let value = load(source + k &* 4, count: columns &- k)
    largest = vector_maximum(largest, bits(magnitude(value)))
  }
  var result: Int32 = 0
  for lane in 0..<lanes { result = max(result, largest[lane]) }
  return Float(bitPattern: UInt32(bitPattern: result))
}

/// The values times `inverse`, rounded to the nearest integers, ties to even, in −2²³ ..< 2²³.
@inline(__always)
private func fixedCodes(
  _ source: UnsafeRawPointer, _ columns: Int, _ k: Int, _ inverse: Vector
) -> IntegerVector {
  let rest = columns &- k
  if rest <= 0 { return .zero }
  let address = source + k &* 4
  let value =
    rest >= lanes ? address.loadUnaligned(as: Vector.self) : load(address, count: rest)
  let scaled = minimum(value * inverse, splat(0x1p23 - 1))
  // Floats between 2²³ and 2²⁴ are integers.
  let away = turnSign(splat(0x1p23), by: scaled)
  return vector_to_int((scaled + away) - away)
}
