import CVector

/// `r` and `n` with `x = n · log 2 + r` and `|r| <= log 2 / 2`.
/// Precondition: `|x| < 2^21`.
@inline(__always)
func reduceExponent(_ x: Vector) -> (remainder: Vector, n: IntegerVector) {
  var r = InlineArray<1, Vector>(repeating: x)
  var n = InlineArray<1, IntegerVector>(repeating: .zero)
  reduceExponents(&r, &n)
  return (r[0], n[0])
}

/// `reduceExponent` for several vectors, which are replaced by the remainders.
@inline(__always)
func reduceExponents<let vectors: Int>(
  _ x: inout InlineArray<vectors, Vector>, _ integers: inout InlineArray<vectors, IntegerVector>
) {
  // Adding 1.5 · 2^23 rounds to an integer and leaves it in the low bits.
  let magic = splat(0x1.8p23)
  var n = x
  for v in 0..<vectors { n[v] = multiplyAdd(x[v], splat(1.442_695_04), magic) }
  for v in 0..<vectors { integers[v] = bits(n[v]) &- bits(magic) }
  for v in 0..<vectors { n[v] -= magic }
  // log 2 in two parts; products with the first, which has 9 bits, are exact.
  for v in 0..<vectors { x[v] = multiplyAdd(n[v], splat(-0x1.63p-1), x[v]) }
  for v in 0..<vectors { x[v] = multiplyAdd(n[v], splat(2.121_944_4e-4), x[v]) }
}

/// `2^n` for `-126 <= n <= 127`.
@inline(__always)
func powerOfTwo(_ n: IntegerVector) -> Vector {
  float(shiftLeft(n &+ splat(Int32(127)), 23))
}

/// `(exp(r) - 1 - r) / r²` for `|r| <= log 2 / 2`, accurate enough for `exp(r)` within 0.06 ULP:
/// the minimax polynomial, with coefficients rounded one after the other, lowest first.
@inline(__always)
func exponentialTail(_ r: Vector) -> Vector {
  exponentialTails(InlineArray<1, Vector>(repeating: r))[0]
}

/// `exponentialTail` of several vectors.
@inline(__always)
func exponentialTails<let vectors: Int>(
  _ r: InlineArray<vectors, Vector>
) -> InlineArray<vectors, Vector> {
  var p = r
  for v in 0..<vectors { p[v] = multiplyAdd(r[v], splat(1.382_094_6e-3), splat(8.368_684e-3)) }
  for v in 0..<vectors { p[v] = multiplyAdd(p[v], r[v], splat(4.166_826_6e-2)) }
  for v in 0..<vectors { p[v] = multiplyAdd(p[v], r[v], splat(1.666_652_1e-1)) }
  for v in 0..<vectors { p[v] = multiplyAdd(p[v], r[v], splat(4.999_999_4e-1)) }
  return p
}

/// `exp(x)` within 2 ULP, including subnormal results; NaN stays NaN.
@inline(__always)
func exponential(_ x: Vector) -> Vector {
  let (r, n) = reduceExponent(minimum(maximum(x, splat(-104)), splat(89)))
  let p = multiplyAdd(exponentialTail(r), r * r, r) + splat(1)
  // The power of two is split into two factors, so that only the last product can leave the normal
  // range.
  let half = shiftRight(n, 1)
  return p * powerOfTwo(half) * powerOfTwo(n &- half)
}

/// `exp(x)` for `x <= 0` within 2 ULP, including subnormal results; NaN stays NaN.
@inline(__always)
func decayingExponential(_ x: Vector) -> Vector {
  let (r, n) = reduceExponent(maximum(x, splat(-104)))
  let p = multiplyAdd(exponentialTail(r), r * r, r) + splat(1)
  // Scaled by 2³², so that only the last product can leave the normal range.
  return p * powerOfTwo(n &+ splat(Int32(32))) * splat(0x1p-32)
}

/// `exp(x)` for `x <= 0` within 2 ULP, but 0 for `x < -87.3`, near 2⁻¹²⁶: some processors take a
/// hundred cycles for a subnormal result. NaN stays NaN.
@inline(__always)
func decayingExponentialOrZero(_ x: Vector) -> Vector {
  let limit = splat(-87.3)
  let (r, n) = reduceExponent(maximum(x, limit))
  let p = multiplyAdd(exponentialTail(r), r * r, r) + splat(1)
  return select(x .< limit, .zero, p * powerOfTwo(n))
}

/// `exp(x) - 1` within 2 ULP; NaN stays NaN.
@inline(__always)
func exponentialMinusOne(_ x: Vector) -> Vector {
  let (r, n) = reduceExponent(minimum(maximum(x, splat(-40)), splat(89)))
  let p = multiplyAdd(exponentialTail(r), r * r, r)
  // Half of the power of two, which is finite even for n = 128.
  let scale = powerOfTwo(n &- splat(Int32(1)))
  let half = multiplyAdd(p, scale, scale - splat(0.5))
  return select(magnitude(x) .< splat(0x1p-60), x, half + half)
}

/// `2^x` within 2 ULP, including subnormal results; NaN stays NaN.
@inline(__always)
func powerOfTwo(_ x: Vector) -> Vector {
  let limited = minimum(maximum(x, splat(-151)), splat(129))
  let magic = splat(0x1.8p23)
  let n = limited + magic
  return powerOfTwo(limited - (n - magic), bits(n) &- bits(magic))
}

/// `2^(r + n)` for `|r| <= 1/2`; see `Tests/Tools/function_polynomials.py`.
@inline(__always)
func powerOfTwo(_ r: Vector, _ n: IntegerVector) -> Vector {
  let p = polynomial(
    r, square: r * r,
    [
      1.532_646_1e-4, 1.339_080_6e-3, 9.618_506e-3, 5.550_359_9e-2, 2.402_264_8e-1, 6.931_471_8e-1,
      1,
    ])
  let half = shiftRight(n, 1)
  return p * powerOfTwo(half) * powerOfTwo(n &- half)
}

/// `r` and `n` with `x = n · log 2 + r` and `|r| <= log 2 / 2`, for a double, so that `exp(r)` is
/// exact to float precision.
@inline(__always)
func reduceExponent(_ x: DoubleVector) -> (remainder: Vector, n: IntegerVector) {
  let n = nearest(x, times: 1.442_695_040_888_963_4)
  let r = multiplyAdd(n, -0.693_147_180_559_945_3, x)
  return (vector_from_double(r), vector_int_from_double(n))
}
