import Formulas
import Kernels
import TensorCore

/// exp(x − max) / Σ exp(x − max) along one axis.
final class Softmax: BuiltInCustomLayer, CustomLayerWithFormula {
  static let className = "Softmax"
  static let notes = CustomLayerNotes(
    "exp(x) / Σ exp(x) along an axis", parameters: ["`axis` of Core ML's shape (the channel axis)"])

  private let axis: Int?
  private let kernels: LayerKernels

  init(parameters: [String: CustomLayerParameter]) throws {
    kernels = try LayerKernels()
    let values = CustomLayerParameters(values: parameters)
    axis = try values.int("axis", in: -Limits.rank...Limits.rank - 1)
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let shape = try onlyInput(inputShapes)
    _ = try AxisShape(shape, axis: axis)
    return [shape]
  }

  func formula(forInputShapes shapes: [[Int]]) throws -> CustomLayerFormula? {
    let x = Expression.name("x")
    let axes = [try AxisShape(shapes[0], axis: axis).index]
    let power = try Expression.apply(.exp, .apply(.subtract, x, x.reduced(.max, axes)))
    return CustomLayerFormula(expression: try .apply(.divide, power, power.reduced(.sum, axes)))
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    let (source, target) = (inputs[0].first, outputs[0].first)
    let view = try AxisShape(inputs[0].shape, axis: axis)
    let (length, inner) = (view.length, view.inner)
    if inner == 1 {
      for row in 0..<view.outer {
        kernels.table.softmax(source + row * length, to: target + row * length, count: length)
      }
      return
    }
    withUnsafeTemporaryAllocation(of: Float.self, capacity: inner) { buffer in
      guard let row = buffer.baseAddress else { return }
      for slab in 0..<view.outer {
        let (from, to) = (source + slab * length * inner, target + slab * length * inner)
        row.update(from: from, count: inner)
        for step in 1..<max(1, length) {
          let values = from + step * inner
          for index in 0..<inner {
            row[index] = values[index] > row[index] ? values[index] : row[index]
          }
        }
        for step in 0..<length {
          let (values, results) = (from + step * inner, to + step * inner)
          for index in 0..<inner { results[index] = values[index] - row[index] }
        }
        kernels.apply(.exp, to, to, length * inner)
        row.update(from: to, count: inner)
        for step in 1..<max(1, length) {
          let results = to + step * inner
          for index in 0..<inner { row[index] += results[index] }
        }
        for step in 0..<length {
          let results = to + step * inner
          for index in 0..<inner { results[index] /= row[index] }
        }
      }
    }
  }
}
