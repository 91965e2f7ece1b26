import Interpretation
import TensorCore

/// Classes from the examples on keras.io, and operations of Keras 3.
enum Examples {
  static let operations: [String: KerasOperations.Operation] = [
    "Patches": patches, "PatchEncoder": encoder,
    operation("Cast"): { run in
      let type = run.field("dtype")?.string ?? ""
      return Elements.same(
        run,
        run.input.map {
          type == "bool" ? $0 == 0 ? 0 : 1 : type.contains("int") ? $0.rounded(.towardZero) : $0
        })
    },
    operation("RGBToHSV"): { run in
      try colors(run) { red, green, blue in
        let largest = max(red, green, blue)
        let range = largest - min(red, green, blue)
        guard range > 0 else { return [0, 0, largest] }
        let sector =
          largest == red
          ? (green - blue) / range
          : largest == green ? 2 + (blue - red) / range : 4 + (red - green) / range
        return [(sector < 0 ? sector + 6 : sector) / 6, range / largest, largest]
      }
    },
    operation("HSVToRGB"): { run in
      try colors(run) { hue, saturation, value in
        [abs(6 * hue - 3) - 1, 2 - abs(6 * hue - 2), 2 - abs(6 * hue - 4)].map {
          value * (1 - saturation + saturation * min(1, max(0, $0)))
        }
      }
    },
  ]

  private static func operation(_ name: String) -> String { KerasModel.Layer.operation + name }

  private static func colors(
    _ run: LayerRun, _ function: (Double, Double, Double) -> [Double]
  ) throws -> [KerasValue] {
    let (shape, values) = (run.input.shape, run.input.values)
    try run.require(shape.count > 1 && shape.last == 3, "an input of shape \(shape)")
    return [
      KerasValue(
        array: DoubleArray(
          shape: shape,
          stride(from: 0, to: values.count, by: 3).flatMap {
            function(values[$0], values[$0 + 1], values[$0 + 2])
          }))
    ]
  }

  /// Flattens each square patch into a vector, row by row.
  private static func patches(_ run: LayerRun) throws -> [KerasValue] {
    try run.require(rank: 4)
    let (shape, size) = (run.input.shape, try run.sizes("patch_size", count: 2)[0])
    let (rows, columns) = (shape[1] / size, shape[2] / size)
    try run.require(
      rows * size == shape[1] && columns * size == shape[2], "an input of shape \(shape)")
    let split = try run.input.reshaped([shape[0], rows, size, columns, size, shape[3]])
    return [
      KerasValue(
        array: try split.transposed([0, 1, 3, 2, 4, 5]).reshaped([
          shape[0], rows * columns, size * size * shape[3],
        ]))
    ]
  }

  /// x · W + b, plus a row of a table for each patch.
  private static func encoder(_ run: LayerRun) throws -> [KerasValue] {
    try run.require(run.weights.count == 3, "it has \(run.weights.count) arrays of weights")
    // A `.keras` file stores the table first.
    let order = run.weights[1].rank == 2 ? [1, 2, 0] : [0, 1, 2]
    let product = try Products.product(run.input, run.weight(order[0], rank: 2))
    let sum = Elements.adding(product, try run.vector(order[1], product.shape.last ?? 0))
    let table = try run.weight(order[2], rank: 2)
    return [KerasValue(array: try Merges.broadcast(sum, table.reshaped([1] + table.shape), +))]
  }
}
