import TensorCore

/// How far the best classes of two arrays of scores agree. The classes lie along the last axis that
/// is longer than 1; each vector along it is one item.
public struct ClassAgreement: Sendable, Equatable {
  /// Part of the items whose best class is the same.
  public let top1: Double
  /// How many best classes were compared, at most all of them.
  public let count: Int
  /// Mean part of the expected `count` best classes that are among the actual ones.
  public let topN: Double

  /// Nil for arrays that hold no vectors of scores: more than two axes longer than 1.
  /// Precondition: the arrays have as many elements.
  public init?(_ actual: Tensor, _ expected: Tensor, count: Int) {
    let shape = expected.shape.filter { $0 != 1 }
    guard let classes = shape.last, classes > 0, shape.count <= 2, count > 0 else { return nil }
    let a = actual.elements
    let b = expected.elements
    let n = min(count, classes)
    let items = a.count / classes
    var same = 0
    var shared = 0
    for item in 0..<items {
      let range = item * classes..<(item + 1) * classes
      let bestActual = Self.best(n, of: a[range])
      let bestExpected = Self.best(n, of: b[range])
      if bestActual.first == bestExpected.first { same += 1 }
      shared += Set(bestActual).intersection(bestExpected).count
    }
    guard items > 0 else { return nil }
    self.count = n
    top1 = Double(same) / Double(items)
    topN = Double(shared) / Double(items * n)
  }

  /// Indices of the best scores, best first; among equals the lower index, NaN last.
  private static func best(_ count: Int, of scores: ArraySlice<Float>) -> [Int] {
    func key(_ score: Float) -> Float { score.isNaN ? -.infinity : score }
    return Array(
      scores.enumerated().sorted { x, y in
        key(x.element) != key(y.element)
          ? key(x.element) > key(y.element) : x.offset < y.offset
      }.prefix(count).map(\.offset))
  }
}
