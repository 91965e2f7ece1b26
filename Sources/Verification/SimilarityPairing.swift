import TensorCore

/// Pairs of expected and computed arrays that correspond although their names differ: both in the
/// order of computation, with equal shapes and the most similar values.
package struct SimilarityPairing: Sendable {
  /// Indices into both lists, in ascending order.
  package private(set) var pairs: [(expected: Int, actual: Int)] = []

  /// The minimum cosine similarity of corresponding arrays.
  static let leastCosine = 0.5
  /// The number of elements to compare, spread over each array.
  private static let sampleCount = 1024
  /// The maximum number of pairs to compare.
  private static let largestProduct = 1 << 22

  /// Finds the pairs with the largest sum of cosines whose order is the same in both lists.
  package init(expected: [Tensor], actual: [Tensor]) {
    guard !expected.isEmpty, !actual.isEmpty,
      expected.count <= Self.largestProduct / actual.count
    else { return }
    let samples = (expected.map(Self.sample), actual.map(Self.sample))
    let width = actual.count + 1
    // The best sum for the first i expected and the first j actual arrays.
    var best = [Double](repeating: 0, count: (expected.count + 1) * width)
    var scores = best
    for i in expected.indices {
      for j in actual.indices {
        let score =
          expected[i].hasAxes(of: actual[j].shape) && expected[i].count > 1
          ? Self.cosine(samples.0[i], samples.1[j]) : 0
        let index = (i + 1) * width + j + 1
        scores[index] = score >= Self.leastCosine ? score : 0
        best[index] = max(
          best[index - 1], best[index - width], best[index - width - 1] + scores[index])
      }
    }
    var (i, j) = (expected.count, actual.count)
    while i > 0, j > 0 {
      let index = i * width + j
      if best[index] == best[index - 1] {
        j -= 1
      } else if best[index] == best[index - width] {
        i -= 1
      } else {
        pairs.append((i - 1, j - 1))
        (i, j) = (i - 1, j - 1)
      }
    }
    pairs.reverse()
  }

  private static func sample(_ tensor: Tensor) -> [Double] {
    tensor.withUnsafeElements { values in
      let step = max(1, values.count / sampleCount)
      return stride(from: 0, to: values.count, by: step).map { Double(values[$0]) }
    }
  }

  /// Σ a · b / √(Σ a² · Σ b²); 0 if that is NaN or infinite.
  private static func cosine(_ a: [Double], _ b: [Double]) -> Double {
    var (product, first, second) = (0.0, 0.0, 0.0)
    for (x, y) in zip(a, b) {
      product += x * y
      first += x * x
      second += y * y
    }
    let cosine = product / (first * second).squareRoot()
    return cosine.isFinite ? cosine : 0
  }
}
