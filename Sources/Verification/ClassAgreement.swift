import TensorCore

/// How well the top classes of two arrays of scores agree. The classes are along the last axis
/// longer than 1; each vector along it is one item.
public struct ClassAgreement: Sendable, Equatable {
  /// Fraction of the items with the same top class.
  public let top1: Double
  /// Number of top classes compared; at most the number of classes.
  public let count: Int
  /// Mean fraction of the expected top `count` classes that are among the actual ones.
  public let topN: Double

  /// Compares scores. Nil if the arrays are not vectors of scores: if more than two axes are longer
  /// than 1. Precondition: the arrays have the same number of elements.
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

  /// Indices of the best scores, best first; ties by lower index, NaN last.
  private static func best(_ count: Int, of scores: ArraySlice<Float>) -> [Int] {
    func key(_ score: Float) -> Float { score.isNaN ? -.infinity : score }
    return Array(
      scores.enumerated().sorted { x, y in
        key(x.element) != key(y.element) ? key(x.element) > key(y.element) : x.offset < y.offset
      }.prefix(count).map(\.offset))
  }
}
