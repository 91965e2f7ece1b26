/// `x / (1 + exp(-alpha · x))`, within 2 ULP where `alpha` is 1, subnormal results included; a NaN
/// stays.
///
/// With exp(−αx) = 2ⁿp it is (x · 2⁻ᵐ) / (2⁻ᵐ + 2ⁿ⁻ᵐp), where m is what n exceeds 64 by: each of the
/// sum and the quotient is rounded once, and nothing overflows.
@inline(__always)
func swish(_ x: Vector, _ alpha: Vector) -> Vector {
  let limit = splat(104.0)
  let z = (Vector.zero - alpha) * x
  let (r, n) = reduceExponent(minimum(maximum(z, splat(-87.0)), limit))
  let p = multiplyAdd(exponentialTail(r), r * r, r) + splat(1.0)
  let over = n &- splat(Int32(64))
  let excess = over & ~shiftRight(over, 31)
  let unit = powerOfTwo(IntegerVector.zero &- excess)
  let result = x * unit / multiplyAdd(p, powerOfTwo(n &- excess), unit)
  return select(z .> limit, Vector.zero, result)
}
