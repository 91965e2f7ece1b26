import Kernels

/// A rational number in lowest terms.
struct Fraction: Equatable {
  let numerator: Int
  let denominator: Int

  init(_ numerator: Int, _ denominator: Int = 1) {
    func divisor(_ a: Int, _ b: Int) -> Int { b == 0 ? abs(a) : divisor(b, a % b) }
    let sign = denominator < 0 ? -1 : 1
    let common = max(divisor(numerator, denominator), 1)
    self.numerator = sign * numerator / common
    self.denominator = sign * denominator / common
  }

  static func + (a: Self, b: Self) -> Self {
    Fraction(
      a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator)
  }
  static func - (a: Self, b: Self) -> Self { a + Fraction(-1) * b }
  static func * (a: Self, b: Self) -> Self {
    Fraction(a.numerator * b.numerator, a.denominator * b.denominator)
  }
  static func / (a: Self, b: Self) -> Self { a * Fraction(b.denominator, b.numerator) }

  var double: Double { Double(numerator) / Double(denominator) }
}

/// The matrices of F(m, r) for m + r − 2 finite points and ∞, by Toom and Cook: two polynomials of
/// degrees m − 1 and r − 1 are multiplied by evaluating them at the points, multiplying the values,
/// and interpolating; the transpose is the correlation.
///
/// With M(x) = Π (x − pᵢ) and Nᵢ = Π(j ≠ i) (pᵢ − pⱼ): Aᵀ[k][i] = pᵢᵏ; G[i][k] = pᵢᵏ / Nᵢ; row i of
/// Bᵀ has the coefficients of M(x) / (x − pᵢ), and the last row those of M(x). At ∞ only the
/// highest power matters.
struct WinogradDerivation {
  let outputTransform: [[Fraction]]
  let weightTransform: [[Fraction]]
  let inputTransform: [[Fraction]]

  init(points: [Fraction], outputs: Int, taps: Int) {
    precondition(points.count == outputs + taps - 2)
    func powers(_ p: Fraction, _ count: Int) -> [Fraction] {
      (1..<count).reduce(into: [Fraction(1)]) { list, _ in list.append(list[list.count - 1] * p) }
    }
    func product(of roots: [Fraction]) -> [Fraction] {
      roots.reduce([Fraction(1)]) { polynomial, root in
        let shifted = [Fraction(0)] + polynomial
        return shifted.indices.map {
          shifted[$0] - ($0 < polynomial.count ? root * polynomial[$0] : Fraction(0))
        }
      }
    }
    let size = outputs + taps - 1
    func padded(_ row: [Fraction]) -> [Fraction] {
      row + [Fraction](repeating: Fraction(0), count: size - row.count)
    }
    func atInfinity(_ count: Int) -> [Fraction] {
      (1...count).map { Fraction($0 == count ? 1 : 0) }
    }
    func others(_ i: Int) -> [Fraction] { points.indices.filter { $0 != i }.map { points[$0] } }

    inputTransform =
      points.indices.map { padded(product(of: others($0))) } + [product(of: points)]
    weightTransform =
      points.indices.map { i in
        let divisor = others(i).reduce(Fraction(1)) { $0 * (points[i] - $1) }
        return powers(points[i], taps).map { $0 / divisor }
      } + [atInfinity(taps)]
    let columns = points.map { powers($0, outputs) } + [atInfinity(outputs)]
    outputTransform = (0..<outputs).map { k in columns.map { $0[k] } }
  }

  /// The matrices that the kernels use along an axis.
  static func used(_ axis: WinogradForm.Axis) -> WinogradDerivation {
    switch (axis.outputs, axis.taps) {
    case (2, 3): two
    case (4, 3): four
    case (6, 3): six
    case (3, 7): threeOfSeven
    default: identity
    }
  }

  private static let two = WinogradDerivation(
    points: [Fraction(0), Fraction(1), Fraction(-1)], outputs: 2, taps: 3)

  private static let four = WinogradDerivation(
    points: [Fraction(0), Fraction(1), Fraction(-1), Fraction(1, 2), Fraction(-2)], outputs: 4,
    taps: 3)
  private static let six = WinogradDerivation(
    points: [
      Fraction(0), Fraction(1), Fraction(-1), Fraction(2), Fraction(-2), Fraction(1, 2),
      Fraction(-1, 2),
    ], outputs: 6, taps: 3)
  private static let threeOfSeven = WinogradDerivation(
    points: [
      Fraction(0), Fraction(1), Fraction(-1), Fraction(3, 2), Fraction(-3, 2), Fraction(1, 2),
      Fraction(-1, 2), Fraction(4),
    ], outputs: 3, taps: 7)
  private static let identity = WinogradDerivation(points: [], outputs: 1, taps: 1)

  /// `vertical · value · horizontalᵀ`, with one of the matrices of each axis.
  static func sandwich(
    _ form: WinogradForm, _ matrix: (WinogradDerivation) -> [[Fraction]], _ value: [[Fraction]]
  ) -> [[Fraction]] {
    product(
      product(matrix(used(form.vertical)), value), transposed(matrix(used(form.horizontal))))
  }

  /// `matrix · value · matrixᵀ`
  static func sandwich(_ matrix: [[Fraction]], _ value: [[Fraction]]) -> [[Fraction]] {
    product(product(matrix, value), transposed(matrix))
  }

  private static func product(_ a: [[Fraction]], _ b: [[Fraction]]) -> [[Fraction]] {
    a.map { row in
      b[0].indices.map { column in
        row.indices.reduce(Fraction(0)) { $0 + row[$1] * b[$1][column] }
      }
    }
  }

  private static func transposed(_ a: [[Fraction]]) -> [[Fraction]] {
    a[0].indices.map { column in a.map { $0[column] } }
  }
}
