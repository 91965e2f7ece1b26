import KernelInterface
import LibC

/// `x^α`: products and roots for the exponents that networks use, else the C library.
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
  map(a, LanePower.self)
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

private enum LanePower: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    var result = Vector.zero
    for lane in 0..<lanes { result[lane] = powf(x[lane], alpha[lane]) }
    return result
  }
}
