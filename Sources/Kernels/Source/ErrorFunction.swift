import CVector

// The polynomials are those of Tests/Tools/function_polynomials.py.

/// `x + x · P(x²)` near zero, `1 - exp(P(x))` beyond.
enum ErrorFunction: PlainBody {
  @inline(__always)
  static func value(_ x: Vector) -> Vector {
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
}

/// `max(x, 0) - |x| · Q(|x|)`, where `Q`, the normal distribution beyond, is `exp(-x²/2)` times a
/// factor: that near zero, `1/|x|` times one in `1 / (|x| + 2)` beyond.
enum Gelu: PlainBody {
  @inline(__always)
  static func value(_ x: Vector) -> Vector {
    let a = minimum(magnitude(x), splat(15))
    let isNear = a .< splat(1)
    let t = splat(1) / (a + splat(2))
    let near = polynomial(
      a,
      [
        3.369_242_2e-4, -2.427_105_6e-3, 9.213_613e-3, -2.594_613_1e-2, 6.228_862_7e-2,
        -1.329_419_8e-1, 2.499_965_1e-1, -3.989_421_7e-1,
      ])
    let far = polynomial(
      t,
      [
        81.460_922, -154.131_94, 108.906_36, -28.666_569, 3.926_971e-1, -1.987_924,
        -3.752_143_4e-1, -8.038_905e-4,
      ])
    // The last step with what its rounding loses.
    let argument = select(isNear, a, t)
    let slope = select(isNear, near, far)
    let constant = select(isNear, splat(0.5), splat(3.989_539_1e-1))
    let factor = multiplyAdd(argument, slope, constant)
    let rest = multiplyAdd(argument, slope, constant - factor)

    let d = vector_to_double(a)
    let (r, n) = reduceExponent(d * d * DoubleVector(repeating: -0.5))
    let e = multiplyAdd(exponentialTail(r), r * r, r)
    let half = shiftRight(n, 1)
    let tail = (multiplyAdd(factor, e, rest) + factor) * select(isNear, a, splat(1))
    // -∞ · 0 is no number.
    let rectified = select(x .< .zero, x * splat(0), x)
    return rectified - tail * powerOfTwo(half) * powerOfTwo(n &- half)
  }
}

/// `x / (1 + exp(-2u))`
enum TanhGelu: PlainBody {
  @inline(__always)
  static func value(_ x: Vector) -> Vector {
    // √(8/π); at 11 the exponential is beyond the floats.
    let factor = -1.595_769_121_605_730_8
    let d = vector_to_double(minimum(maximum(x, splat(-11)), splat(11)))
    let u = d * multiplyAdd(d * d, 0.044715 * factor, DoubleVector(repeating: factor))
    let (r, n) = reduceExponent(u)
    let p = multiplyAdd(exponentialTail(r), r * r, r) + splat(1)
    // 2⁻³² of it, so that it is finite where the result is subnormal.
    let small = n &- splat(Int32(32))
    let half = shiftRight(small, 1)
    let e = p * powerOfTwo(half) * powerOfTwo(small &- half)
    return select(x .> splat(11), x, x / (splat(0x1p-32) + e) * splat(0x1p-32))
  }
}

/// `tanh(log(1 + n)) = n(n + 2) / (n(n + 2) + 2)`; beyond 20 it is 1.
enum Mish: PlainBody {
  @inline(__always)
  static func value(_ x: Vector) -> Vector {
    let n = exponential(minimum(x, splat(20)))
    let w = n * (n + splat(2))
    return x * (w / (w + splat(2)))
  }
}
