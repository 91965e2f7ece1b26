import TensorCore

/// Removes two rows and columns at each border.
package final class ResCropBlockLambda: BuiltInCustomLayer, CustomLayerWithEquivalent {
  package static let className = "ResCropBlockLambda"
  package static let notes = CustomLayerNotes(
    "x without two rows and columns at each border", expression: "x[:, 2:-2, 2:-2]")

  private static let border = 2

  package init(parameters: [String: CustomLayerParameter]) throws {}

  package func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let shape = try PlaneShape(planes: onlyInput(inputShapes))
    try require(
      shape.height > 2 * Self.border && shape.width > 2 * Self.border,
      "the shape \(inputShapes[0]) is too small to lose two rows and columns at each border")
    return [
      shape.with(
        channels: shape.channels, height: shape.height - 2 * Self.border,
        width: shape.width - 2 * Self.border)
    ]
  }

  package var equivalent: CustomLayerEquivalent? { .crop(border: Self.border) }

  package func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    for (input, output) in zip(inputs, outputs) {
      let (source, target) = (input.first, output.first)
      let (wide, narrow) = (PlaneShape(input.shape), PlaneShape(output.shape))
      let (height, width) = (wide.height, wide.width)
      let (rows, columns) = (narrow.height, narrow.width)
      for row in 0..<output.elements.count / max(1, columns) {
        let (plane, y) = row.quotientAndRemainder(dividingBy: rows)
        let from = (plane * height + y + Self.border) * width + Self.border
        (target + row * columns).update(from: source + from, count: columns)
      }
    }
  }
}
