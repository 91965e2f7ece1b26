import TensorCore

/// The matrix product over the last two axes, with leading axes broadcast as in NumPy; with one
/// input, its product with the weights, plus a bias.
package struct BatchedMatMul: ArrayLayer {
  package static let typeName = "batchedMatmul"
  package static let inputCount = 1...2

  package var transposeA = false
  package var transposeB = false
  /// X1, the size of the input's last axis.
  package var weightMatrixFirstDimension = 0
  /// X2, the size of the output's last axis.
  package var weightMatrixSecondDimension = 0
  package var hasBias = false
  /// The matrix `[X1, X2]` in column-major order, that is, row-major `[X2, X1]`.
  package var matrix: Weights?
  package var bias: Weights?
  package var int8DynamicQuantize = false

  package init() {}

  package static let fields: Fields = [
    .bool("transposeA", \.transposeA),
    .bool("transposeB", \.transposeB),
    .int("weightMatrixFirstDimension", \.weightMatrixFirstDimension),
    .int("weightMatrixSecondDimension", \.weightMatrixSecondDimension),
    .bool("hasBias", \.hasBias),
    .weights("weights", \.matrix, isNeeded: \.hasMatrix) {
      [$0.weightMatrixSecondDimension, $0.weightMatrixFirstDimension]
    },
    .weights(
      "bias", \.bias, isNeeded: { $0.hasMatrix && $0.hasBias },
      { [$0.weightMatrixSecondDimension] }),
    .bool("int8DynamicQuantize", \.int8DynamicQuantize),
  ]

  private var hasMatrix: Bool { weightMatrixFirstDimension != 0 || matrix != nil }

  package var requiredSpecificationVersion: Int { int8DynamicQuantize ? 5 : 4 }

  /// A vector is a row as the first operand and a column as the second; the result keeps that axis.
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let first = try arrayInput(inputs)
    if inputs.count == 1 {
      try require(
        first.last == weightMatrixFirstDimension && weightMatrixSecondDimension > 0,
        "an input of shape \(first) for a matrix "
          + "[\(weightMatrixFirstDimension), \(weightMatrixSecondDimension)]",
        field: "weightMatrixFirstDimension")
      return [try ArrayShape.checked(first.dropLast() + [weightMatrixSecondDimension])]
    }
    let sizes = try matrixSizes(inputs)
    let batch = try ArrayShape.broadcast([sizes.firstBatch, sizes.secondBatch])
    return [try ArrayShape.checked(batch + [sizes.rows, sizes.columns])]
  }

  /// The rows, depth and columns of each product of two inputs, and the leading batch axes of each.
  package func matrixSizes(_ inputs: [[Int]]) throws -> (
    rows: Int, depth: Int, columns: Int, firstBatch: [Int], secondBatch: [Int]
  ) {
    var a = inputs[0].count == 1 ? [1] + inputs[0] : inputs[0]
    var b = inputs[1].count == 1 ? inputs[1] + [1] : inputs[1]
    if transposeA, inputs[0].count > 1 { a.swapAt(a.count - 1, a.count - 2) }
    if transposeB, inputs[1].count > 1 { b.swapAt(b.count - 1, b.count - 2) }
    guard let depth = a.last, depth == b[b.count - 2] else {
      throw ModelError(
        .malformed,
        "matrices of shapes \(inputs[0])\(transposeA ? "ᵀ" : "") and "
          + "\(inputs[1])\(transposeB ? "ᵀ" : "") cannot be multiplied", field: "input")
    }
    return (a[a.count - 2], depth, b[b.count - 1], a.dropLast(2), b.dropLast(2))
  }

  package func multiplyAdds(_ inputs: [[Int]], _ outputs: [[Int]]) -> Int {
    let depth = inputs.count == 2 ? try? matrixSizes(inputs).depth : weightMatrixFirstDimension
    return MultiplyAdds.product(outputs.first, [depth ?? 0])
  }

  package func check(_ faults: inout ValidationIssues) {
    guard hasMatrix else { return }
    if int8DynamicQuantize { faults.requireDynamicCodes(matrix) }
    faults.require(weightMatrixFirstDimension > 0, "weightMatrixFirstDimension", "0")
    faults.require(weightMatrixSecondDimension > 0, "weightMatrixSecondDimension", "0")
  }
}
