import TensorCore

/// The product of a row and a matrix, as in DeformConv2d-Metal.
final class RowProduct: BuiltInCustomLayer {
  static let className = "dneprDroid_addmm"
  static let notes = CustomLayerNotes("y[…, 1, n] = Σ a[…, 1, k] · b[…, k, n]; inputs a and b")

  private let kernels: LayerKernels

  init(parameters: [String: CustomLayerParameter]) throws { kernels = try LayerKernels() }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let shapes = try inputs(inputShapes, 2...2)
    let (a, b) = (shapes[0], shapes[1])
    try require(
      a.count >= 2 && b.count >= 2 && a[a.count - 2] == 1 && a[a.count - 1] == b[b.count - 2]
        && a.dropLast(2) == b.dropLast(2),
      "a row of shape \(a) cannot be multiplied with a matrix of shape \(b)", field: "input")
    return [b.dropLast(2) + [1, b[b.count - 1]]]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    let (a, b, target) = (inputs[0].first, inputs[1].first, outputs[0].first)
    let shape = inputs[1].shape
    let (terms, count) = (shape[shape.count - 2], shape[shape.count - 1])
    for item in 0..<shape.dropLast(2).reduce(1, *) {
      let result = target + item * count
      result.update(repeating: 0, count: count)
      for term in 0..<terms {
        kernels.add(a[item * terms + term], b + (item * terms + term) * count, to: result, count)
      }
    }
  }
}
