import TensorCore

/// Crops the borders; with two inputs, crops the first to the size of the second.
package struct Crop: LayerParameters {
  package static let inputCount = 1...2

  package var cropAmounts: BorderAmounts?
  /// `[y, x]`, used with two inputs.
  package var offset: [Int] = []

  package init() {}

  package static let fields: Fields = [
    .message("cropAmounts", \.cropAmounts),
    .ints("offset", \.offset),
  ]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try input(inputs)
    if inputs.count == 2 {
      let target = try BlobShape(inputs[1])
      let start = offset.isEmpty ? [0, 0] : offset
      try require(
        start.count == 2 && start.allSatisfy({ $0 >= 0 && $0 <= Limits.dimension }),
        "\(offset) is invalid; two offsets are needed", field: "offset")
      try require(
        start[0] + target.height <= shape.height && start[1] + target.width <= shape.width,
        "\(target.height) × \(target.width) at \(start) is outside "
          + "\(shape.height) × \(shape.width)", field: "offset")
      return [try shape.resized(target.height, target.width).checked]
    }
    let amounts = try (cropAmounts ?? BorderAmounts()).resolved("cropAmounts")
    let height = shape.height - amounts.top - amounts.bottom
    let width = shape.width - amounts.left - amounts.right
    try require(
      height > 0 && width > 0, "cropping leaves nothing of \(shape.height) × \(shape.width)",
      field: "cropAmounts")
    return [try shape.resized(height, width).checked]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.catching { _ = try (cropAmounts ?? BorderAmounts()).resolved("cropAmounts") }
    faults.require(
      [0, 2].contains(offset.count), "offset", "\(offset) is invalid; two offsets are needed")
  }
}
