/// The shortest x that minimizes ‖A·x − b‖, from the singular values of A.
enum LeastSquaresSolver {
  /// Singular values below this factor times the largest one and max(m, n) count as 0, as in
  /// PyTorch.
  private static let tolerance = Double(Float.ulpOfOne)

  /// Solves each system of a batch.
  ///
  /// - Parameters:
  ///   - a: A transposed, `[batches, n, m]`
  ///   - b: `[batches, m]`
  ///   - outputs: x `[batches, n]`, residuals (0), the ranks, singular values `[batches, m]`
  static func solve(
    _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, batches: Int, n: Int, m: Int,
    outputs: [UnsafeMutablePointer<Float>]
  ) {
    for batch in 0..<batches {
      // The rows of the input are the columns of A.
      let columns = (0..<n).map { column in
        (0..<m).map { Double(a[(batch * n + column) * m + $0]) }
      }
      let right = (0..<m).map { Double(b[batch * m + $0]) }
      let solved = solve(columns, right)
      for (index, value) in solved.solution.enumerated() {
        outputs[0][batch * n + index] = Float(value)
      }
      outputs[1][batch] = 0
      outputs[2][batch] = Float(solved.rank)
      for index in 0..<m {
        outputs[3][batch * m + index] =
          index < solved.values.count ? Float(solved.values[index]) : 0
      }
    }
  }

  private static func solve(
    _ columns: [[Double]], _ right: [Double]
  ) -> (solution: [Double], rank: Int, values: [Double]) {
    let (n, m) = (columns.count, right.count)
    // A = U·S·Vᵀ, or its transpose for a wide matrix: the vectors are rotated until they are
    // orthogonal, and the rotations form the other factor.
    let isWide = n > m
    let vectors = isWide ? (0..<m).map { row in columns.map { $0[row] } } : columns
    let (rotated, factor) = orthogonalized(vectors)
    let lengths = rotated.map { $0.reduce(0) { $0 + $1 * $1 }.squareRoot() }
    let order = lengths.indices.sorted { (lengths[$0], $1) > (lengths[$1], $0) }
    let least = (lengths.max() ?? 0) * tolerance * Double(max(m, n))
    let kept = order.filter { lengths[$0] > least }
    var solution = [Double](repeating: 0, count: n)
    for index in kept {
      let square = lengths[index] * lengths[index]
      let left = isWide ? factor[index] : rotated[index]
      let target = isWide ? rotated[index] : factor[index]
      let share = zip(left, right).reduce(0) { $0 + $1.0 * $1.1 } / square
      for position in solution.indices { solution[position] += share * target[position] }
    }
    return (solution, kept.count, order.map { lengths[$0] })
  }

  /// One-sided Jacobi rotations: returns the orthogonalized vectors, and the orthonormal
  /// combinations of the original vectors that form them.
  private static func orthogonalized(
    _ vectors: [[Double]]
  ) -> (rotated: [[Double]], factor: [[Double]]) {
    var u = vectors
    var v = vectors.indices.map { row in vectors.indices.map { $0 == row ? 1.0 : 0 } }
    func dot(_ a: [Double], _ b: [Double]) -> Double {
      var sum = 0.0
      for index in a.indices { sum += a[index] * b[index] }
      return sum
    }
    func rotate(_ vectors: inout [[Double]], _ p: Int, _ q: Int, _ c: Double, _ s: Double) {
      for index in vectors[p].indices {
        let (a, b) = (vectors[p][index], vectors[q][index])
        vectors[p][index] = c * a - s * b
        vectors[q][index] = s * a + c * b
      }
    }
    for _ in 0..<40 {
      var isDone = true
      for p in u.indices.dropLast() {
        for q in p + 1..<u.count {
          let (a, b, c) = (dot(u[p], u[p]), dot(u[q], u[q]), dot(u[p], u[q]))
          // NaN also ends the rotations.
          guard abs(c) > 1e-15 * (a * b).squareRoot(), c != 0 else { continue }
          isDone = false
          let zeta = (b - a) / (2 * c)
          let t = (zeta < 0 ? -1 : 1) / (abs(zeta) + (1 + zeta * zeta).squareRoot())
          let cosine = 1 / (1 + t * t).squareRoot()
          rotate(&u, p, q, cosine, cosine * t)
          rotate(&v, p, q, cosine, cosine * t)
        }
      }
      if isDone { break }
    }
    return (u, v)
  }
}
