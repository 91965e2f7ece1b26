import TensorCore

/// The shortest x that minimizes ‖A·x − b‖, with the rank and the singular values of A, as in
/// Lstsq-CoreML. A is transposed, `[…, n, m]`, and b is `[…, m]`.
final class LeastSquares: BuiltInCustomLayer {
  static let className = "dneprDroid_lstsq"
  static let otherNames = ["Lstsq", "lstsq"]
  static let notes = CustomLayerNotes(
    "x = A⁺ · b for A transposed, […, n, m], and b […, m]; outputs x […, n], residuals (0), the rank of A and its singular values […, m], 0 beyond min(m, n)",
    parameters: ["`driver`: `gelsd`"])

  /// Maximum number of multiply-adds of one pass over all matrices.
  private static let workLimit = 1 << 28

  init(parameters: [String: CustomLayerParameter]) throws {
    _ = try CustomLayerParameters(values: parameters).choice("driver", of: ["gelsd"])
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let shapes = try inputs(inputShapes, 2...2)
    let (a, b) = (shapes[0], shapes[1])
    try require(
      a.count >= 2 && b == a.dropLast(2) + [a[a.count - 1]],
      "a transposed matrix of the shape \(a) and right-hand sides of the shape \(b)",
      field: "input", hint: "expected are […, n, m] and […, m]")
    let (n, m) = (a[a.count - 2], a[a.count - 1])
    let batches = Array(a.dropLast(2))
    _ = try checkedProduct(batches + [n, m, min(n, m)], limit: Self.workLimit)
    let one = batches.isEmpty ? [1] : batches
    return [batches + [n], one, one, batches + [m]]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    let shape = inputs[0].shape
    LeastSquaresSolver.solve(
      inputs[0].first, inputs[1].first, batches: shape.dropLast(2).reduce(1, *),
      n: shape[shape.count - 2], m: shape[shape.count - 1], outputs: outputs.map(\.first))
  }
}
