import CVector
import LibC

/// From here on, every float is an integer.
private let wholeLimit: Float = 0x1p23

@inline(__always)
func nearest(_ x: Vector) -> Vector {
  let a = magnitude(x)
  let whole = (a + splat(wholeLimit)) - splat(wholeLimit)
  return select(a .< splat(wholeLimit), turnSign(whole, by: x), x)
}

@inline(__always)
func floor(_ x: Vector) -> Vector {
  let whole = nearest(x)
  return select(whole .> x, whole - splat(1), whole)
}

@inline(__always)
func ceiling(_ x: Vector) -> Vector {
  turnSign(floor(turnSign(x, by: splat(-1))), by: splat(-1))
}

@inline(__always)
func sign(_ x: Vector) -> Vector {
  select(x .> .zero, splat(1), select(x .< .zero, splat(-1), x))
}

/// `a - b · quotient`, exact for quotients of at most 24 bits.
@inline(__always)
private func remainder(_ a: Vector, _ b: Vector, _ quotient: Vector) -> Vector {
  let product = vector_to_double(quotient) * vector_to_double(b)
  return vector_from_double(vector_to_double(a) - product)
}

/// Whether the sign of the remainder differs from that of the divisor.
@inline(__always)
private func isOpposite(_ rest: Vector, _ divisor: Vector) -> Mask {
  (rest .!= .zero) .& (bits(rest) ^ bits(divisor) .< IntegerVector.zero)
}

/// `⌊a / b⌋`; corrects quotients that were rounded up to an integer.
@inline(__always)
func floorDivide(_ a: Vector, _ b: Vector) -> Vector {
  let quotient = a / b
  let whole = floor(quotient)
  let isRoundedUp =
    isOpposite(remainder(a, b, whole), b) .& (magnitude(quotient) .< splat(0x1p24))
    .& (magnitude(b) .< splat(.infinity))
  return select(isRoundedUp, whole - splat(1), whole)
}

/// `a - b · ⌊a / b⌋`; a zero result has the sign of `a`.
@inline(__always)
func modulo(_ a: Vector, _ b: Vector) -> Vector {
  let quotient = a / b
  var rest = remainder(a, b, floor(quotient))
  rest = select(isOpposite(rest, b), rest + b, rest)
  rest = select(rest .== .zero, float(bits(a) & splat(Int32.min)), rest)
  let isShort = (magnitude(quotient) .< splat(0x1p22)) .& (magnitude(b) .< splat(.infinity))
  if all(isShort) { return rest }
  for lane in 0..<lanes where !isShort[lane] {
    let value = fmodf(a[lane], b[lane])
    rest[lane] = value != 0 && (value < 0) != (b[lane] < 0) ? value + b[lane] : value
  }
  return rest
}
