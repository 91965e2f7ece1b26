import CVector

/// `f`, `e` and `2^-e` with `x = 2^e · (1 + f)` and `√½ <= 1 + f < √2`, for normal numbers; `2^-e`
/// is zero for `e > 126`.
@inline(__always)
func splitNormal(_ x: Vector) -> (f: Vector, exponent: IntegerVector, inverse: Vector) {
  let offset = bits(x) &- splat(Int32(0x3f35_04f3))
  let shifted = offset & splat(Int32(bitPattern: 0xff80_0000))
  let inverse = vector_maximum(splat(Int32(0x3f80_0000)) &- shifted, splat(Int32(0)))
  return (float(bits(x) &- shifted) - splat(1), shiftRight(offset, 23), float(inverse))
}

/// `splitNormal` extended to subnormal numbers, without `2^-e`.
@inline(__always)
func splitExponent(_ x: Vector) -> (f: Vector, exponent: Vector) {
  let small = x .< splat(0x1p-126)
  let (f, e, _) = splitNormal(select(small, x * splat(0x1p23), x))
  return (f, vector_from_int(e) - select(small, splat(23), .zero))
}

/// `n · log 2 + log(1 + f) + rest` for `√½ - 1 <= f < √2 - 1` and a small rest.
@inline(__always)
func logarithm(_ f: Vector, _ n: Vector, rest: Vector = .zero) -> Vector {
  let square = f * f
  let p = polynomial(
    f, square: square,
    [
      7.037_683_6e-2, -1.151_461e-1, 1.167_699_87e-1, -1.242_014_1e-1, 1.424_932_3e-1,
      -1.666_805_8e-1, 2.000_071_5e-1, -2.499_999_4e-1, 3.333_333_1e-1,
    ])
  // log 2 in two parts; products with the first, which has 9 bits, are exact.
  var tail = multiplyAdd(n, splat(-2.121_944_4e-4), rest)
  tail = multiplyAdd(square, splat(-0.5), multiplyAdd(p, f * square, tail))
  return multiplyAdd(n, splat(0x1.63p-1), f + tail)
}

/// `log(x)` within 2 ULP, including subnormal arguments: -∞ at zero, NaN for negative numbers.
@inline(__always)
func logarithm(_ x: Vector) -> Vector {
  let (f, n) = splitExponent(x)
  // NaN stays NaN.
  let special = select(x .== .zero, splat(-.infinity), select(x .< .zero, splat(.nan), x))
  return select((x .> .zero) .& (x .< splat(.infinity)), logarithm(f, n), special)
}

/// `log(1 + x) + twos · log 2` for `-1 < x < ∞`; undefined elsewhere.
@inline(__always)
func logarithm(onePlus x: Vector, twos: Vector = .zero) -> Vector {
  let sum = splat(1) + x
  // Exact up to 2²⁴; beyond that it does not matter.
  let lost = x - (sum - splat(1))
  let (f, n, inverse) = splitNormal(sum)
  // The rounding error divided by 1 + f, to sufficient accuracy.
  let scaled = lost * inverse
  return logarithm(f, vector_from_int(n) + twos, rest: multiplyAdd(scaled, f * f - f, scaled))
}

@inline(__always)
func logarithmOnePlus(_ x: Vector) -> Vector {
  let value = logarithm(onePlus: x)
  // Negative zero, infinity and NaN are preserved.
  let special = select(
    x .< splat(-1), splat(.nan), select(x .== splat(-1), splat(-.infinity), x))
  let isOrdinary =
    (x .> splat(-1)) .& (x .< splat(.infinity)) .& (magnitude(x) .> splat(0x1p-60))
  return select(isOrdinary, value, special)
}
