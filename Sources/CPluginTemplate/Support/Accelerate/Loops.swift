// The names are Apple's.
// swift-format-ignore-file: TypeNamesShouldBeCapitalized

@_exported import Foundation

public typealias vDSP_Length = UInt
public typealias vDSP_Stride = Int

/// Sixteen values at once: one or more registers of any processor.
typealias Lanes<Value: SIMDScalar> = SIMD16<Value>

/// An operand with the distance between its values.
struct Strided<Value: SIMDScalar> {
  let address: UnsafePointer<Value>
  let stride: Int

  @inline(__always)
  init(_ address: UnsafePointer<Value>, _ stride: Int) {
    self.address = address
    self.stride = stride
  }

  /// The values from `index` on; beyond `count` the first of them again.
  @inline(__always)
  func load(_ index: Int, _ count: Int) -> Lanes<Value> {
    if stride == 1, count == 16 {
      return UnsafeRawPointer(address + index).loadUnaligned(as: Lanes<Value>.self)
    }
    var lanes = Lanes<Value>(repeating: address[index &* stride])
    for lane in 1..<max(1, count) { lanes[lane] = address[(index &+ lane) &* stride] }
    return lanes
  }
}

/// A result, which may be where an operand is.
struct StridedResult<Value: SIMDScalar> {
  let address: UnsafeMutablePointer<Value>
  let stride: Int

  @inline(__always)
  init(_ address: UnsafeMutablePointer<Value>, _ stride: Int) {
    self.address = address
    self.stride = stride
  }

  @inline(__always)
  func store(_ lanes: Lanes<Value>, _ index: Int, _ count: Int) {
    if stride == 1, count == 16 {
      UnsafeMutableRawPointer(address + index).storeBytes(of: lanes, as: Lanes<Value>.self)
      return
    }
    for lane in 0..<count { address[(index &+ lane) &* stride] = lanes[lane] }
  }
}

/// Calls `body` with the first index and the length of each piece of up to sixteen values.
@inline(__always)
func inPieces(_ length: vDSP_Length, _ body: (Int, Int) -> Void) {
  let length = Int(length)
  var index = 0
  while index &+ 16 <= length {
    body(index, 16)
    index &+= 16
  }
  if index < length { body(index, length &- index) }
}

@inline(__always)
func map<Value: SIMDScalar>(
  _ a: Strided<Value>, _ result: StridedResult<Value>, _ length: vDSP_Length,
  _ body: (Lanes<Value>) -> Lanes<Value>
) {
  inPieces(length) { result.store(body(a.load($0, $1)), $0, $1) }
}

@inline(__always)
func map<Value: SIMDScalar>(
  _ a: Strided<Value>, _ b: Strided<Value>, _ result: StridedResult<Value>,
  _ length: vDSP_Length, _ body: (Lanes<Value>, Lanes<Value>) -> Lanes<Value>
) {
  inPieces(length) { result.store(body(a.load($0, $1), b.load($0, $1)), $0, $1) }
}

@inline(__always)
func map<Value: SIMDScalar>(
  _ a: Strided<Value>, _ b: Strided<Value>, _ c: Strided<Value>, _ result: StridedResult<Value>,
  _ length: vDSP_Length, _ body: (Lanes<Value>, Lanes<Value>, Lanes<Value>) -> Lanes<Value>
) {
  inPieces(length) {
    result.store(body(a.load($0, $1), b.load($0, $1), c.load($0, $1)), $0, $1)
  }
}

/// The values one after the other, in the type of the sum.
@inline(__always)
func fold<Value: SIMDScalar, Result>(
  _ a: Strided<Value>, _ length: vDSP_Length, _ start: Result,
  _ body: (inout Result, Value) -> Void
) -> Result {
  var result = start
  for index in 0..<Int(length) { body(&result, a.address[index &* a.stride]) }
  return result
}

@inline(__always)
func magnitude(_ x: Lanes<Float>) -> Lanes<Float> {
  unsafeBitCast(
    unsafeBitCast(x, to: SIMD16<UInt32>.self) & SIMD16(repeating: 0x7fff_ffff),
    to: Lanes<Float>.self)
}

@inline(__always)
func magnitude(_ x: Lanes<Double>) -> Lanes<Double> {
  unsafeBitCast(
    unsafeBitCast(x, to: SIMD16<UInt64>.self) & SIMD16(repeating: 0x7fff_ffff_ffff_ffff),
    to: Lanes<Double>.self)
}

@inline(__always)
func larger<Value: SIMDScalar & Comparable>(_ a: Lanes<Value>, _ b: Lanes<Value>) -> Lanes<Value> {
  a.replacing(with: b, where: a .< b)
}

@inline(__always)
func smaller<Value: SIMDScalar & Comparable>(_ a: Lanes<Value>, _ b: Lanes<Value>) -> Lanes<Value> {
  a.replacing(with: b, where: a .> b)
}
