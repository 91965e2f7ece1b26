import Formulas
import KernelInterface
import Kernels
import TensorCore

/// γ · x / √max(Σ x², ε), with the sum along one axis.
final class L2Normalization: BuiltInCustomLayer, CustomLayerWithFormula {
  static let className = "L2Normalization"
  static let otherNames = ["L2Normalize", "L2Norm"]
  static let notes = CustomLayerNotes(
    "γ · x / √max(Σ x², ε), the sum along an axis",
    parameters: ["`axis` of Core ML's shape (the channel axis)", "`epsilon` (1e-12)"],
    weights: "γ, one value or one per element of the axis; default 1")

  private let axis: Int?
  private let epsilon: Double
  private var gamma: [Float] = []
  private let kernels: LayerKernels

  init(parameters: [String: CustomLayerParameter]) throws {
    kernels = try LayerKernels()
    let values = CustomLayerParameters(values: parameters)
    axis = try values.int("axis", in: -Limits.rank...Limits.rank - 1)
    epsilon = Double(try values.float("epsilon", "eps") ?? 1e-12)
  }

  func setWeights(_ weights: [CustomLayerWeight]) throws {
    try require(
      weights.count <= 1, "it has \(weights.count) weights; only gamma is allowed", field: "weights"
    )
    gamma = try weights.first?.floats() ?? []
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let shape = try onlyInput(inputShapes)
    let length = try AxisShape(shape, axis: axis).length
    try require(
      gamma.count <= 1 || gamma.count == length,
      "\(gamma.count) values of gamma for an axis of \(length)", field: "weights")
    return [shape]
  }

  func formula(forInputShapes shapes: [[Int]]) throws -> CustomLayerFormula? {
    let x = Expression.name("x")
    let index = try AxisShape(shapes[0], axis: axis).index
    let sum = try Expression.apply(.square, x).reduced(.sum, [index])
    let factor = try Expression.apply(.rsqrt, .apply(.maximum, sum, .number(epsilon)))
    let result = try Expression.apply(.multiply, x, factor)
    if gamma.isEmpty { return CustomLayerFormula(expression: result) }
    let inner = [Int](repeating: 1, count: shapes[0].count - 1 - index)
    return CustomLayerFormula(
      expression: try .apply(.multiply, result, .name("gamma")),
      weights: ["gamma": FormulaArray([gamma.count] + inner, gamma.map { Double($0) })])
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    let (source, target) = (inputs[0].first, outputs[0].first)
    let view = try AxisShape(inputs[0].shape, axis: axis)
    let (length, inner) = (view.length, view.inner)
    withUnsafeTemporaryAllocation(of: Double.self, capacity: inner) { buffer in
      guard let sums = buffer.baseAddress else { return }
      for slab in 0..<view.outer {
        let (from, to) = (source + slab * length * inner, target + slab * length * inner)
        if inner == 1 {
          sums[0] = kernels.table.sum(.sumOfSquares, from, length)
        } else {
          sums.update(repeating: 0, count: inner)
          for step in 0..<length {
            let values = from + step * inner
            for index in 0..<inner {
              let x = Double(values[index])
              sums[index] += x * x
            }
          }
        }
        for index in 0..<inner {
          sums[index] = 1 / (sums[index] > epsilon ? sums[index] : epsilon).squareRoot()
        }
        for step in 0..<length {
          let scale = gamma.isEmpty ? 1 : gamma[gamma.count == 1 ? 0 : step]
          let (values, results) = (from + step * inner, to + step * inner)
          for index in 0..<inner { results[index] = values[index] * Float(sums[index]) * scale }
        }
      }
    }
  }
}
