import CVector

/// `x = 2^e · (1 + f)` with `√½ <= 1 + f < √2`, subnormal arguments included: `f` and `e`.
@inline(__always)
func splitExponent(_ x: Vector) -> (f: Vector, exponent: Vector) {
  let small = x .< splat(0x1p-126)
  let scaled = select(small, x * splat(0x1p23), x)
  let offset = bits(scaled) &- splat(Int32(0x3f35_04f3))
  let e = shiftRight(offset, 23)
  let m = float(bits(scaled) &- shiftLeft(e, 23))
  return (m - splat(1), vector_from_int(e) - select(small, splat(23), .zero))
}

/// `log(x)` within 2 ULP, subnormal arguments included: -∞ at zero, NaN below.
@inline(__always)
func logarithm(_ x: Vector) -> Vector {
  let (f, exponent) = splitExponent(x)
  var p = splat(7.037_683_6e-2)
  p = multiplyAdd(p, f, splat(-1.151_461e-1))
  p = multiplyAdd(p, f, splat(1.167_699_87e-1))
  p = multiplyAdd(p, f, splat(-1.242_014_1e-1))
  p = multiplyAdd(p, f, splat(1.424_932_3e-1))
  p = multiplyAdd(p, f, splat(-1.666_805_8e-1))
  p = multiplyAdd(p, f, splat(2.000_071_5e-1))
  p = multiplyAdd(p, f, splat(-2.499_999_4e-1))
  p = multiplyAdd(p, f, splat(3.333_333_1e-1))
  let square = f * f
  var tail = p * f * square
  tail = multiplyAdd(exponent, splat(-2.121_944_4e-4), tail)
  tail = multiplyAdd(square, splat(-0.5), tail)
  var result = multiplyAdd(exponent, splat(0x1.63p-1), f + tail)

  result = select(x .== .zero, splat(-.infinity), result)
  result = select(x .== splat(.infinity), x, result)
  // Below zero NaN; a NaN stays.
  return select(x .>= .zero, result, select(x .< .zero, splat(.nan), x))
}

/// `log(1 + x)` for `0 <= x <= 1`, accurate where `1 + x` is not.
@inline(__always)
func logarithmOnePlus(_ x: Vector) -> Vector {
  let u = splat(1) + x
  return logarithm(u) + (x - (u - splat(1))) / u
}

/// `log(u)` and what is to be added to it for `log(1 + x)`, where `u` is `1 + x`, rounded.
@inline(__always)
func logarithmParts(onePlus x: Vector) -> (u: Vector, rest: Vector) {
  let u = splat(1) + x
  let lost = select(x .< splat(1), x - (u - splat(1)), splat(1) - (u - x))
  return (u, select(u .== splat(.infinity), .zero, lost / u))
}

enum LogarithmOnePlus: PlainBody {
  @inline(__always)
  static func value(_ x: Vector) -> Vector {
    let (u, rest) = logarithmParts(onePlus: x)
    // Neither a negative zero nor an infinite logarithm meets the rest.
    return select(
      magnitude(x) .< splat(0x1p-60), x, select(u .== .zero, logarithm(u), logarithm(u) + rest))
  }
}
