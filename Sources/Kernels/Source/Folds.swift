import KernelInterface

/// Reduces values to one: `neutral ∘ prepare(x0) ∘ prepare(x1) ∘ …`
protocol Fold {
  static var neutral: Float { get }
  static func prepare(_ x: Vector) -> Vector
  static func combine(_ a: Vector, _ b: Vector) -> Vector
}

extension Fold {
  @inline(__always)
  static func prepare(_ x: Vector) -> Vector { x }
}

enum Sum: Fold {
  static var neutral: Float { 0 }
  @inline(__always)
  static func combine(_ a: Vector, _ b: Vector) -> Vector { a + b }
}

enum SumOfSquares: Fold {
  static var neutral: Float { 0 }
  @inline(__always)
  static func prepare(_ x: Vector) -> Vector { x * x }
  @inline(__always)
  static func combine(_ a: Vector, _ b: Vector) -> Vector { a + b }
}

enum SumOfMagnitudes: Fold {
  static var neutral: Float { 0 }
  @inline(__always)
  static func prepare(_ x: Vector) -> Vector { magnitude(x) }
  @inline(__always)
  static func combine(_ a: Vector, _ b: Vector) -> Vector { a + b }
}

enum Product: Fold {
  static var neutral: Float { 1 }
  @inline(__always)
  static func combine(_ a: Vector, _ b: Vector) -> Vector { a * b }
}

/// The maximum; NaN if any value is NaN.
enum Largest: Fold {
  static var neutral: Float { -.infinity }
  @inline(__always)
  static func combine(_ a: Vector, _ b: Vector) -> Vector {
    select(a .== a, maximum(b, a), a)
  }
}

/// The minimum; NaN if any value is NaN.
enum Smallest: Fold {
  static var neutral: Float { .infinity }
  @inline(__always)
  static func combine(_ a: Vector, _ b: Vector) -> Vector {
    select(a .== a, minimum(b, a), a)
  }
}

extension Fold {
  /// Folds the first `count` lanes of `x` into `start`.
  @inline(__always)
  static func lanes(_ x: Vector, count: Int, on start: Float = neutral) -> Float {
    var result = splat(start)
    for l in 0..<count { result = combine(result, splat(x[l])) }
    return result[0]
  }
}
