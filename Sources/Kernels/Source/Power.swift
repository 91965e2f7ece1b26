import CVector
import KernelInterface

/// `x^α`, by products and roots for exponents that are common in networks.
@inline(never)
func raise(_ a: UnaryArguments) {
  if a.parameters.channelAlpha == nil {
    switch a.parameters.alpha {
    case 0: return map(a) { _ in splat(1) }
    case 0.5: return map(a, root)
    case -0.5: return map(a) { x in splat(1) / root(x) }
    case 0.75: return map(a) { x in root(x) * squareRoot(root(x)) }
    case -0.75: return map(a) { x in splat(1) / (root(x) * squareRoot(root(x))) }
    case 1: return map(a) { x in x }
    case 2: return map(a) { x in x * x }
    case 3: return map(a) { x in x * x * x }
    case -1: return map(a) { x in splat(1) / x }
    default: break
    }
  }
  map(a) { x, alpha, _ in power(x, alpha) }
}

/// `x^½` like `pow`: positive for a negative zero, infinite for either infinity.
@inline(__always)
private func root(_ x: Vector) -> Vector {
  select(x .== splat(-.infinity), splat(.infinity), squareRoot(x + splat(0)))
}

/// `log₂(1 + f) + n` to 35 bits for `√½ - 1 <= f < √2 - 1`; see
/// Tests/Tools/function_polynomials.py.
@inline(__always)
private func logarithmOfTwo(_ f: Vector, _ n: Vector) -> DoubleVector {
  // The smaller terms, in single precision.
  let tail = polynomial(
    f, square: f * f,
    [
      7.734_675_7e-2, -1.428_244_86e-1, 1.447_514e-1, -1.431_593e-1, 1.587_697_6e-1,
      -1.803_004_3e-1, 2.061_753_6e-1, -2.404_531_7e-1,
    ])
  let d = vector_to_double(f)
  let square = d * d
  var odd = multiplyAdd(
    vector_to_double(tail), square, DoubleVector(repeating: -0.360_673_674_829_026_3))
  var even = multiplyAdd(
    square, 0.288_537_293_419_681_54, DoubleVector(repeating: 0.480_898_361_396_095_7))
  even = multiplyAdd(even, square, DoubleVector(repeating: 1.442_695_040_888_703_8))
  odd = multiplyAdd(odd, square, DoubleVector(repeating: -0.721_347_520_868_753_4))
  return multiplyAdd(multiplyAdd(odd, d, even), d, vector_to_double(n))
}

/// `2^x`, for `|x| < 2^31`.
@inline(__always)
private func raised(_ x: DoubleVector) -> Vector {
  let whole = nearest(x, times: 1)
  return powerOfTwo(vector_from_double(x - whole), vector_limit(vector_int_from_double(whole), 200))
}

/// `x^y` within 2 ULP as `2^(y · log₂ x)`; special values as in C's `pow`.
@inline(__always)
func power(_ x: Vector, _ y: Vector) -> Vector {
  let isOrdinary =
    (x .>= splat(0x1p-126)) .& (x .< splat(.infinity)) .& (magnitude(y) .< splat(0x1p23))
  if all(isOrdinary) {
    let (f, n, _) = splitNormal(x)
    return raised(logarithmOfTwo(f, vector_from_int(n)) * vector_to_double(y))
  }
  let a = magnitude(x)
  let (f, exponent) = splitExponent(a)
  var n = select(a .== .zero, splat(-.infinity), exponent)
  n = select(a .== splat(.infinity), a, n)
  var result = raised(vector_limit_double(logarithmOfTwo(f, n) * vector_to_double(y), 200))

  // For negative bases, odd powers are negative and noninteger ones NaN.
  let isWhole = nearest(y) .== y
  let half = y * splat(0.5)
  let isOdd = isWhole .& (nearest(half) .!= half)
  result = turnSign(result, by: select(isOdd, x, .zero))
  result = select((x .< .zero) .& (a .!= splat(.infinity)) .& .!isWhole, splat(.nan), result)
  // Anything added to NaN is NaN.
  result = select((x .== x) .& (y .== y), result, x + y)
  let isOne =
    (x .== splat(1)) .| (y .== .zero) .| ((a .== splat(1)) .& (magnitude(y) .== splat(.infinity)))
  return select(isOne, splat(1), result)
}
