import CVector

#if KERNELS_AVX512
  typealias Vector = SIMD16<Float>
  typealias IntegerVector = SIMD16<Int32>
#elseif KERNELS_AVX2
  typealias Vector = SIMD8<Float>
  typealias IntegerVector = SIMD8<Int32>
#else
  typealias Vector = SIMD4<Float>
  typealias IntegerVector = SIMD4<Int32>
#endif

/// As many doubles as a vector has floats, for computations that need more than float precision.
#if KERNELS_AVX512
  typealias DoubleVector = SIMD16<Double>
#elseif KERNELS_AVX2
  typealias DoubleVector = SIMD8<Double>
#else
  typealias DoubleVector = SIMD4<Double>
#endif

/// Number of floats in a vector.
@inline(__always)
var lanes: Int { Vector.scalarCount }

/// Number of channels in a block.
@inline(__always)
var channelBlock: Int { Table.channelBlock }

@inline(__always)
var vectorsPerBlock: Int { channelBlock / lanes }

// Swift's own operators work lane by lane, and the compiler does not always vectorize them.

@inline(__always)
func + (a: Vector, b: Vector) -> Vector { vector_add(a, b) }

@inline(__always)
func - (a: Vector, b: Vector) -> Vector { vector_subtract(a, b) }

@inline(__always)
func * (a: Vector, b: Vector) -> Vector { vector_multiply(a, b) }

@inline(__always)
func / (a: Vector, b: Vector) -> Vector { vector_divide(a, b) }

@inline(__always)
func += (a: inout Vector, b: Vector) { a = a + b }

@inline(__always)
func -= (a: inout Vector, b: Vector) { a = a - b }

/// `a * b + c`, rounded once if the instruction set supports it.
@inline(__always)
func multiplyAdd(_ a: Vector, _ b: Vector, _ c: Vector) -> Vector {
  vector_multiply_add(a, b, c)
}

@inline(__always)
func multiplyAdd(_ a: DoubleVector, _ b: DoubleVector, _ c: DoubleVector) -> DoubleVector {
  vector_multiply_add_double(a, b, c)
}

/// `a * b + c` with the same coefficients in all lanes.
@inline(__always)
func multiplyAdd(_ a: DoubleVector, _ b: Double, _ c: DoubleVector) -> DoubleVector {
  multiplyAdd(a, DoubleVector(repeating: b), c)
}

/// `((c₀ · x + c₁) · x + c₂) …`
@inline(__always)
func polynomial<let count: Int>(_ x: Vector, _ coefficients: InlineArray<count, Float>) -> Vector {
  var p = splat(coefficients[0])
  for k in 1..<count { p = multiplyAdd(p, x, splat(coefficients[k])) }
  return p
}

/// The same in two chains, even and odd powers, which takes half the time of one; the last step is
/// Horner's.
@inline(__always)
func polynomial<let count: Int>(
  _ x: Vector, square: Vector, _ coefficients: InlineArray<count, Float>
) -> Vector {
  var p = splat(coefficients[0])
  var q = splat(coefficients[1])
  for k in 1..<(count &- 1) / 2 {
    p = multiplyAdd(p, square, splat(coefficients[2 &* k]))
    q = multiplyAdd(q, square, splat(coefficients[2 &* k &+ 1]))
  }
  if count & 1 == 1 {
    p = multiplyAdd(p, x, q)
  } else {
    p = multiplyAdd(q, x, multiplyAdd(p, square, splat(coefficients[count &- 2])))
  }
  return multiplyAdd(p, x, splat(coefficients[count &- 1]))
}

/// The integer nearest to `x · factor`, ties to even, if it is less than 2⁵¹.
@inline(__always)
func nearest(_ x: DoubleVector, times factor: Double) -> DoubleVector {
  let magic = DoubleVector(repeating: 0x1.8p52)
  return multiplyAdd(x, factor, magic) - magic
}

@inline(__always)
func load(_ address: UnsafePointer<Float>) -> Vector {
  UnsafeRawPointer(address).loadUnaligned(as: Vector.self)
}

@inline(__always)
func load(_ address: UnsafeMutablePointer<Float>) -> Vector {
  UnsafeRawPointer(address).loadUnaligned(as: Vector.self)
}

@inline(__always)
func store(_ value: Vector, _ address: UnsafeMutablePointer<Float>) {
  UnsafeMutableRawPointer(address).storeBytes(of: value, as: Vector.self)
}

/// The first `count` lanes, with zeros in the others; reads nothing else.
@inline(__always)
func load(_ address: UnsafeRawPointer, count: Int) -> Vector {
  var value = Vector.zero
  withUnsafeMutableBytes(of: &value) { bytes in
    if let base = bytes.baseAddress { base.copyMemory(from: address, byteCount: count &* 4) }
  }
  return value
}

/// Writes the first `count` lanes.
@inline(__always)
func store(_ value: Vector, _ address: UnsafeMutableRawPointer, count: Int) {
  withUnsafeBytes(of: value) { bytes in
    if let base = bytes.baseAddress { address.copyMemory(from: base, byteCount: count &* 4) }
  }
}

/// Prefetches `lines` cache lines starting at `address`, which may be invalid.
@inline(__always)
func fetch(_ address: UnsafePointer<Float>, lines: Int) {
  var line = address
  let end = address + lines &* lineFloats
  while line < end {
    vector_prefetch_far(line)
    line += lineFloats
  }
}

/// Number of floats in a cache line.
@inline(__always)
var lineFloats: Int { 16 }

/// The same value in all lanes.
@inline(__always)
func splat(_ value: Float) -> Vector { Vector(repeating: value) }

@inline(__always)
func splat(_ value: Int32) -> IntegerVector { IntegerVector(repeating: value) }

@inline(__always)
func bits(_ value: Vector) -> IntegerVector { unsafeBitCast(value, to: IntegerVector.self) }

@inline(__always)
func float(_ bits: IntegerVector) -> Vector { unsafeBitCast(bits, to: Vector.self) }

/// The result of a comparison: all or no bits set in each lane.
typealias Mask = SIMDMask<IntegerVector>

@inline(__always)
func select(_ mask: Mask, _ yes: Vector, _ no: Vector) -> Vector {
  vector_select(unsafeBitCast(mask, to: IntegerVector.self), yes, no)
}

@inline(__always)
func all(_ mask: Mask) -> Bool { vector_all(unsafeBitCast(mask, to: IntegerVector.self)) }

/// `max(a, b)`; `a` if `a` is NaN.
@inline(__always)
func maximum(_ a: Vector, _ b: Vector) -> Vector { select(a .< b, b, a) }

/// `min(a, b)`; `a` if `a` is NaN.
@inline(__always)
func minimum(_ a: Vector, _ b: Vector) -> Vector { select(a .> b, b, a) }

@inline(__always)
func magnitude(_ x: Vector) -> Vector { float(bits(x) & splat(Int32.max)) }

/// `x`, negated in the lanes where `sign` is negative.
@inline(__always)
func turnSign(_ x: Vector, by sign: Vector) -> Vector {
  float(bits(x) ^ (bits(sign) & splat(Int32.min)))
}

@inline(__always)
func squareRoot(_ x: Vector) -> Vector { vector_square_root(x) }

@inline(__always)
func shiftLeft(_ x: IntegerVector, _ count: Int32) -> IntegerVector { vector_shift_left(x, count) }

/// An arithmetic shift, which keeps the sign.
@inline(__always)
func shiftRight(_ x: IntegerVector, _ count: Int32) -> IntegerVector {
  vector_shift_right(x, count)
}

/// The sum of the lanes, by halves.
@inline(__always)
func laneSum(_ x: Vector) -> Float {
  #if KERNELS_AVX512
    let a = x.lowHalf + x.highHalf
    let b = a.lowHalf + a.highHalf
  #elseif KERNELS_AVX2
    let b = x.lowHalf + x.highHalf
  #else
    let b = x
  #endif
  let c = b.lowHalf + b.highHalf
  return c.x + c.y
}

/// A number of rows or columns that is known at compile time.
struct Count<let count: Int> {
  @inline(__always)
  static var value: Int { count }
}
