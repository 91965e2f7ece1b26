/// `x / (1 + exp(-alpha · x))`, within 2 ULP where `alpha` is 1, subnormal results included; a NaN
/// stays.
///
/// With exp(−αx) = 2ⁿ(1 + q) the denominator is (1 + 2ⁿ) + 2ⁿq: q is not rounded to a float near 1
/// first, and what rounding takes from 1 + 2ⁿ is added again.
@inline(__always)
func swish(_ x: Vector, _ alpha: Vector) -> Vector {
  let z = turnSign(alpha * x, by: splat(-1.0))
  let isModerate = magnitude(z) .<= splat(80)
  let (r, n) = reduceExponent(z)
  let q = multiplyAdd(exponentialTail(r), r * r, r)
  let power = powerOfTwo(n)
  let sum = splat(1) + power
  let lost = splat(1) - (sum - power)
  let result = x / (sum + multiplyAdd(q, power, lost))
  if all(isModerate) { return result }
  return select(isModerate, result, farSwish(x, z))
}

/// The same for any `z = -alpha · x`, near the ends of the range of floats as well.
///
/// The denominator is 2ⁿ(1 + (q + 2⁻ⁿ)) for positive n, so that nothing overflows.
@inline(never)
private func farSwish(_ x: Vector, _ z: Vector) -> Vector {
  let limit = splat(104.0)
  let (r, n) = reduceExponent(minimum(maximum(z, splat(-104.0)), limit))
  let q = multiplyAdd(exponentialTail(r), r * r, r)
  let sign = shiftRight(n, 31)
  let size = (n ^ sign) &- sign
  let half = shiftRight(size, 1)
  // 2^−|n| in two factors, since a single one can be subnormal.
  let first = powerOfTwo(IntegerVector.zero &- half)
  let second = powerOfTwo(half &- size)
  let power = first * second
  let isLarge = n .> IntegerVector.zero
  let one = splat(1.0)
  let denominator = select(
    isLarge, one + (q + power), multiplyAdd(q, power, one + power))
  let result = x / denominator * select(isLarge, first, one) * select(isLarge, second, one)
  return select(z .> limit, turnSign(.zero, by: x), result)
}
