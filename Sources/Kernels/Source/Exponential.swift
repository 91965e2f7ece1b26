/// `x = n · log 2 + r` with `|r| <= log 2 / 2`: `r` and `n`.
/// Precondition: `|x| < 2^21`.
@inline(__always)
func reduceExponent(_ x: Vector) -> (remainder: Vector, n: IntegerVector) {
  // Adding 1.5 · 2^23 rounds to an integer, which then stands in the low bits.
  let magic = splat(0x1.8p23)
  let shifted = multiplyAdd(x, splat(1.442_695_04), magic)
  let n = shifted - magic
  // log 2 in two parts; the products with the first, of 9 bits, are exact.
  let r = multiplyAdd(n, splat(-0x1.63p-1), x)
  return (multiplyAdd(n, splat(2.121_944_4e-4), r), bits(shifted) &- bits(magic))
}

/// `2^n` for `-126 <= n <= 127`.
@inline(__always)
func powerOfTwo(_ n: IntegerVector) -> Vector {
  float(shiftLeft(n &+ splat(Int32(127)), 23))
}

/// `(exp(r) - 1 - r) / r²` for `|r| <= log 2 / 2`.
@inline(__always)
func exponentialTail(_ r: Vector) -> Vector {
  var p = splat(1.987_569_2e-4)
  p = multiplyAdd(p, r, splat(1.398_199_95e-3))
  p = multiplyAdd(p, r, splat(8.333_452e-3))
  p = multiplyAdd(p, r, splat(4.166_579_6e-2))
  p = multiplyAdd(p, r, splat(1.666_666_5e-1))
  return multiplyAdd(p, r, splat(5.000_000_1e-1))
}

/// `exp(x)` within 2 ULP, subnormal results included; a NaN stays.
@inline(__always)
func exponential(_ x: Vector) -> Vector {
  let (r, n) = reduceExponent(minimum(maximum(x, splat(-104)), splat(89)))
  let p = multiplyAdd(exponentialTail(r), r * r, r) + splat(1)
  // In two factors, so that only the last product can leave the normal numbers.
  let half = shiftRight(n, 1)
  let result = p * powerOfTwo(half) * powerOfTwo(n &- half)
  return select(x .== x, result, x)
}

/// `exp(x)` for `x <= 0` within 2 ULP, subnormal results included; a NaN stays.
@inline(__always)
func decayingExponential(_ x: Vector) -> Vector {
  let (r, n) = reduceExponent(maximum(x, splat(-104)))
  let p = multiplyAdd(exponentialTail(r), r * r, r) + splat(1)
  // 2³² more than the result, so that only the last product can leave the normal numbers.
  return p * powerOfTwo(n &+ splat(Int32(32))) * splat(0x1p-32)
}

/// `exp(x) - 1` for `x <= 0` within 2 ULP; a NaN stays.
@inline(__always)
func exponentialMinusOne(_ x: Vector) -> Vector {
  let (r, n) = reduceExponent(maximum(x, splat(-40)))
  let p = multiplyAdd(exponentialTail(r), r * r, r)
  let scale = powerOfTwo(n)
  let result = multiplyAdd(p, scale, scale - splat(1))
  return select(x .== x, result, x)
}
