/// `x / (1 + exp(-alpha · x))`: the exponential, one sum and one quotient, each rounded as if it
/// stood alone, so that three calls one after the other give the same bits.
///
/// Where `alpha` is 1, within 2 ULP for `|x| <= 10` and 2.5 ULP down to −88.7, below which the
/// exponential is infinite and the result a zero; a NaN stays.
@inline(__always)
func swish(_ x: Vector, _ alpha: Vector) -> Vector {
  x / (splat(1) + exponential(turnSign(alpha * x, by: splat(-1))))
}
