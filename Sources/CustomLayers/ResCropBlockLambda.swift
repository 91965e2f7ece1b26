import TensorCore

/// Takes two rows and columns from each border.
public final class ResCropBlockLambda: CustomLayer {
  public static let className = "ResCropBlockLambda"

  private static let border = 2

  public init(parameters: [String: CustomLayerParameter]) throws {}

  public func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    try inputShapes.map { shape in
      guard shape.count == 5, shape[3] > 2 * Self.border, shape[4] > 2 * Self.border else {
        throw ModelError(
          .malformed,
          "nothing is left of shape \(shape) without two rows and columns at each border")
      }
      return [
        shape[0], shape[1], shape[2], shape[3] - 2 * Self.border, shape[4] - 2 * Self.border,
      ]
    }
  }

  public var equivalent: CustomLayerEquivalent? { .crop(border: Self.border) }

  public func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    for (input, output) in zip(inputs, outputs) {
      guard let source = input.elements.baseAddress, let target = output.elements.baseAddress
      else { continue }
      let (height, width) = (input.shape[3], input.shape[4])
      let (rows, columns) = (output.shape[3], output.shape[4])
      for row in 0..<output.elements.count / max(1, columns) {
        let (plane, y) = row.quotientAndRemainder(dividingBy: rows)
        let from = (plane * height + y + Self.border) * width + Self.border
        (target + row * columns).update(from: source + from, count: columns)
      }
    }
  }
}
