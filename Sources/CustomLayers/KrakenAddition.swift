import TensorCore

/// The sum of the chunks of an axis; kraken's `addition`.
final class KrakenAddition: BuiltInCustomLayer {
  static let className = "addition"
  static let notes = CustomLayerNotes(
    "y[…, j, …] = Σ x[…, i · chunk_size + j, …] along the axis `dim` of [N, C, H, W]",
    parameters: ["`dim`", "`chunk_size`"])

  private let axis: Int
  private let chunk: Int
  private let kernels: LayerKernels

  init(parameters: [String: CustomLayerParameter]) throws {
    kernels = try LayerKernels()
    let values = CustomLayerParameters(values: parameters)
    axis = try values.required("dim", in: 0...3)
    chunk = try values.required("chunk_size", in: 1...Limits.dimension)
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    var shape = try onlyInput(inputShapes)
    let index = shape.count - 4 + axis
    try require(
      shape.count >= 4 && shape[index] >= chunk,
      "an input of the shape \(shape) has no chunks of \(chunk) along its axis",
      field: "parameters.chunk_size")
    shape[index] = chunk
    return [shape]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    let (source, target) = (inputs[0].first, outputs[0].first)
    let view = try AxisShape(inputs[0].shape, axis: axis - 4)
    let length = chunk * view.inner
    for outer in 0..<view.outer {
      let (from, to) = (source + outer * view.length * view.inner, target + outer * length)
      to.update(from: from, count: length)
      // An incomplete chunk is left out.
      for part in 1..<max(1, view.length / chunk) {
        kernels.add(1, from + part * length, to: to, length)
      }
    }
  }
}
