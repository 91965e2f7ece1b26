import CVector

// The polynomials come from Tests/Tools/function_polynomials.py.

/// `x + x · P(x²)` near zero, `1 - exp(P(x))` elsewhere.
@inline(__always)
func errorFunction(_ x: Vector) -> Vector {
  let a = minimum(magnitude(x), splat(4))
  let near = polynomial(
    a * a,
    [
      8.330_974e-5, -8.131_411e-4, 5.199_781_6e-3, -2.685_873_6e-2, 1.128_367_86e-1,
      -3.761_263_2e-1, 1.283_791_66e-1,
    ])
  let exponent = polynomial(
    a,
    [
      -2.082_227_2e-5, 4.313_341_6e-4, -4.156_032_6e-3, 2.508_018_9e-2, -1.082_199_36e-1,
      -6.334_011e-1, -1.129_488_35, 1.692_032_2e-4,
    ])
  let (r, n) = reduceExponent(exponent)
  let p = multiplyAdd(exponentialTail(r), r * r, r) + splat(1)
  let far = splat(1) - p * powerOfTwo(n)
  return turnSign(select(a .>= splat(0.92), far, multiplyAdd(near, a, a)), by: x)
}

/// `max(x, 0) - |x| · Q(|x|)`, where `Q` is the tail of the normal distribution: `exp(-x²/2)` times
/// a polynomial in `|x|` near zero, or times `1/|x|` and a polynomial in `1 / (|x| + 2)` elsewhere.
@inline(__always)
func gelu(_ x: Vector) -> Vector {
  let a = minimum(magnitude(x), splat(15))
  let isNear = a .< splat(1)
  let sum = a + splat(2)
  let t = splat(1) / sum
  let near = polynomial(
    a, square: a * a,
    [
      3.369_242_2e-4, -2.427_105_6e-3, 9.213_613e-3, -2.594_613_1e-2, 6.228_862_7e-2,
      -1.329_419_8e-1, 2.499_965_1e-1, -3.989_421_7e-1,
    ])
  let far = polynomial(
    t, square: t * t,
    [
      81.460_922, -154.131_94, 108.906_36, -28.666_569, 3.926_971e-1, -1.987_924,
      -3.752_143_4e-1, -8.038_905e-4,
    ])
  // The last step of the polynomial, with its rounding error.
  let argument = select(isNear, a, t)
  let slope = select(isNear, near, far)
  let constant = select(isNear, splat(0.5), splat(3.989_539_1e-1))
  let factor = multiplyAdd(argument, slope, constant)
  var rest = multiplyAdd(argument, slope, constant - factor)
  // `t · sum` differs from 1 by the quotient's rounding error and `sum − 2` from `a` by the
  // sum's; the derivative of the factor far from zero is near −½.
  let error = multiplyAdd(t, a - (sum - splat(2)), multiplyAdd(t, sum, splat(-1)))
  rest += select(isNear, .zero, t * splat(0.5) * error)

  // The square in two parts: the square of the first 12 bits is exact.
  let high = float(bits(a) & splat(Int32(bitPattern: 0xffff_f000)))
  let low = (a - high) * (a + high)
  let (remainder, n) = reduceExponent(high * high * splat(-0.5))
  let r = multiplyAdd(low, splat(-0.5), remainder)
  let e = multiplyAdd(exponentialTail(r), r * r, r)
  let tail = (multiplyAdd(factor, e, rest) + factor) * select(isNear, a, splat(1))
  // -∞ · 0 is NaN.
  let rectified = select(x .< .zero, x * splat(0), x)
  // The power of two is split into two factors, so that only the last product can leave the
  // normal range.
  return rectified - tail * powerOfTwo(n &+ splat(Int32(40))) * splat(0x1p-40)
}

/// `x / (1 + exp(-2u))`
@inline(__always)
func tanhGelu(_ x: Vector) -> Vector {
  // √(8/π); at -11 the result underflows, from 8 on it is `x`.
  let factor = -1.595_769_121_605_730_8
  let d = vector_to_double(minimum(maximum(x, splat(-11)), splat(8)))
  let u = d * multiplyAdd(d * d, 0.044715 * factor, DoubleVector(repeating: factor))
  let (r, n) = reduceExponent(u)
  let e = multiplyAdd(exponentialTail(r), r * r, r)
  // Scaled by 2⁻⁴⁰, so that it is finite even if the result is subnormal.
  let scale = powerOfTwo(n &- splat(Int32(40)))
  let sum = multiplyAdd(e, scale, scale + splat(0x1p-40))
  // -∞ · 0 is NaN.
  let small = select(x .< splat(-11), x * splat(0), x / sum * splat(0x1p-40))
  return select(x .> splat(8), x, small)
}

/// With `n = exp(x)` and `w = n(n + 2)`, `x · w / (w + 2)` below -½ and `x - 2x / (w + 2)` above.
@inline(__always)
func mish(_ x: Vector) -> Vector {
  let limited = minimum(maximum(x, splat(-110)), splat(20))
  let (r, k) = reduceExponent(limited)
  let e = multiplyAdd(exponentialTail(r), r * r, r)
  // 2⁴⁰ · n, so that it is a normal number even if the result is subnormal.
  let scale = powerOfTwo(k &+ splat(Int32(40)))
  let n = (e + splat(1)) * scale * splat(0x1p-40)
  // x · n, and its rounding error.
  let whole = limited * scale
  let product = multiplyAdd(whole, e, whole)
  let lost = multiplyAdd(whole, e, whole - product)
  let isBelow = x .< splat(-0.5)
  let below = multiplyAdd(product, n, lost + lost) + (product + product)
  let numerator = select(isBelow, below, limited * splat(-2))
  let quotient = numerator / multiplyAdd(n, n + splat(2), splat(2))
  // Adding a zero to a negative zero would lose the sign.
  let above = float(bits(x + quotient) | (bits(x) & splat(Int32.min)))
  let value = select(isBelow, quotient * splat(0x1p-40), above)
  // -∞ · 0 is NaN.
  return select(x .< splat(-110), x * splat(0), value)
}
