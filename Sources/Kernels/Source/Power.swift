import KernelInterface

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// `x^α`: products and roots for the exponents that networks use, else the C library.
@inline(never)
func raise(_ a: UnaryArguments) {
  if a.channelAlpha == nil {
    switch a.alpha {
    case 0: return map(a) { _, _, _ in splat(1) }
    case 0.5: return map(a) { x, _, _ in root(x) }
    case -0.5: return map(a) { x, _, _ in splat(1) / root(x) }
    case 0.75: return map(a) { x, _, _ in root(x) * squareRoot(root(x)) }
    case -0.75: return map(a) { x, _, _ in splat(1) / (root(x) * squareRoot(root(x))) }
    case 1: return map(a) { x, _, _ in x }
    case 2: return map(a) { x, _, _ in x * x }
    case 3: return map(a) { x, _, _ in x * x * x }
    case -1: return map(a) { x, _, _ in splat(1) / x }
    default: break
    }
  }
  map(a) { x, alpha, _ in
    var result = Vector.zero
    for lane in 0..<lanes { result[lane] = powf(x[lane], alpha[lane]) }
    return result
  }
}

/// `x^½` as `pow` has it: positive for a negative zero, infinite for either infinity.
@inline(__always)
private func root(_ x: Vector) -> Vector {
  select(x .== splat(-.infinity), splat(.infinity), squareRoot(x + splat(0)))
}
