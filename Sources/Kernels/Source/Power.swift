import CVector
import KernelInterface

/// `x^α`: products and roots for the exponents that networks use.
@inline(never)
func raise(_ a: UnaryArguments) {
  if a.channelAlpha == nil {
    switch a.alpha {
    case 0: return map(a, One.self)
    case 0.5: return map(a, Root.self)
    case -0.5: return map(a, InverseRoot.self)
    case 0.75: return map(a, ThreeQuarters.self)
    case -0.75: return map(a, MinusThreeQuarters.self)
    case 1: return map(a, Same.self)
    case 2: return map(a, Square.self)
    case 3: return map(a, Cube.self)
    case -1: return map(a, Reciprocal.self)
    default: break
    }
  }
  map(a, Power.self)
}

/// `x^½` as `pow` has it: positive for a negative zero, infinite for either infinity.
@inline(__always)
private func root(_ x: Vector) -> Vector {
  select(x .== splat(-.infinity), splat(.infinity), squareRoot(x + splat(0)))
}

private enum One: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector { splat(1) }
}

private enum Root: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector { root(x) }
}

private enum InverseRoot: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector { splat(1) / root(x) }
}

private enum ThreeQuarters: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    root(x) * squareRoot(root(x))
  }
}

private enum MinusThreeQuarters: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    splat(1) / (root(x) * squareRoot(root(x)))
  }
}

private enum Same: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector { x }
}

private enum Cube: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector { x * x * x }
}

private enum Reciprocal: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector { splat(1) / x }
}

private enum Power: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector { power(x, alpha) }
}

/// `x^y` within 2 ULP as `2^(y · log₂ x)`, whose logarithm has 35 bits; special values as C's `pow`.
@inline(__always)
func power(_ x: Vector, _ y: Vector) -> Vector {
  let a = magnitude(x)
  let (f, exponent) = splitExponent(a)
  // log₂(1 + f) / f; the terms that are small as floats.
  // See Tests/Tools/function_polynomials.py.
  let tail = polynomial(
    f,
    [
      7.734_675_7e-2, -1.428_244_86e-1, 1.447_514e-1, -1.431_593e-1, 1.587_697_6e-1,
      -1.803_004_3e-1, 2.061_753_6e-1, -2.404_531_7e-1,
    ])
  let d = vector_to_double(f)
  var p = multiplyAdd(
    vector_to_double(tail), d, DoubleVector(repeating: 0.288_537_293_419_681_54))
  p = multiplyAdd(p, d, DoubleVector(repeating: -0.360_673_674_829_026_3))
  p = multiplyAdd(p, d, DoubleVector(repeating: 0.480_898_361_396_095_7))
  p = multiplyAdd(p, d, DoubleVector(repeating: -0.721_347_520_868_753_4))
  p = multiplyAdd(p, d, DoubleVector(repeating: 1.442_695_040_888_703_8))
  var n = select(a .== .zero, splat(-.infinity), exponent)
  n = select(a .== splat(.infinity), a, n)
  let logarithm = multiplyAdd(p, d, vector_to_double(n))
  let product = vector_limit_double(logarithm * vector_to_double(y), 200)
  let whole = vector_nearest_double(product)
  var result = powerOfTwo(vector_from_double(product - whole), vector_int_from_double(whole))

  // Below zero: the sign of odd powers, and no other ones.
  let isWhole = Nearest.value(y) .== y
  let half = y * splat(0.5)
  let isOdd = isWhole .& (Nearest.value(half) .!= half)
  result = turnSign(result, by: select(isOdd, x, .zero))
  result = select((x .< .zero) .& (a .!= splat(.infinity)) .& .!isWhole, splat(.nan), result)
  // Whatever is added to a NaN stays one.
  result = select((x .== x) .& (y .== y), result, x + y)
  let isOne =
    (x .== splat(1)) .| (y .== .zero) .| ((a .== splat(1)) .& (magnitude(y) .== splat(.infinity)))
  return select(isOne, splat(1), result)
}
