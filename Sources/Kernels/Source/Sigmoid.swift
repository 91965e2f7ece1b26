/// `1 / (1 + exp(-x))`, accurate down to subnormal results; NaN stays NaN.
@inline(__always)
func sigmoid(_ x: Vector) -> Vector {
  let e = decayingExponential(float(bits(x) | splat(Int32.min)))
  return select(x .< .zero, e, splat(1)) / (splat(1) + e)
}

/// `tanh(x)`; NaN stays NaN.
@inline(__always)
func hyperbolicTangent(_ x: Vector) -> Vector {
  let z = magnitude(x)
  let square = z * z
  var p = splat(-5.704_988_7e-3)
  p = multiplyAdd(p, square, splat(2.063_908_9e-2))
  p = multiplyAdd(p, square, splat(-5.373_971_6e-2))
  p = multiplyAdd(p, square, splat(1.333_144_2e-1))
  p = multiplyAdd(p, square, splat(-3.333_328_2e-1))
  let near = multiplyAdd(p * square, z, z)
  let far = splat(1) - splat(2) / (exponential(z + z) + splat(1))
  return turnSign(select(z .< splat(0.625), near, far), by: x)
}
