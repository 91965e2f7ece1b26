import TensorCore

/// Non-maximum suppression: visits boxes in descending order of their largest score and keeps each
/// box that no better box suppresses.
///
/// Inputs: boxes `[B, N, 4]` as center x, center y, width, height, and scores `[B, N, C]`. Outputs:
/// the boxes kept `[B, maxBoxes, 4]`, their scores `[B, maxBoxes, C]`, their places `[B, maxBoxes]`
/// and their number `[B]`; what is left over is 0, and −1 among the positions. The best box is always
/// kept. Further inputs hold `iouThreshold`, `scoreThreshold` and `maxBoxes` instead of the fields.
package struct NonMaximumSuppression: ArrayLayer, DynamicLayer {
  package static let typeName = "NonMaximumSuppression"
  package static let inputCount = 2...5
  package static let outputCount = 4...4

  /// A better box suppresses a box if their intersection over union exceeds this.
  package var iouThreshold: Float = 0
  /// Boxes whose largest score is below this are dropped.
  package var scoreThreshold: Float = 0
  package var maxBoxes = 0
  /// Whether boxes only suppress boxes with the same best class.
  package var perClassSuppression = false

  package init() {}

  package static let fields: Fields = [
    .float("iouThreshold", \.iouThreshold),
    .float("scoreThreshold", \.scoreThreshold),
    .int("maxBoxes", \.maxBoxes),
    .bool("perClassSuppression", \.perClassSuppression),
  ]

  package func decidingInputs(_ count: Int) -> [Int] { Array(2..<max(2, count)) }

  package func resolved(_ inputs: [[Int]], _ values: [[Float]]) throws -> any LayerParameters {
    var layer = self
    if let threshold = values.first?.first { layer.iouThreshold = threshold }
    if values.count > 1 { layer.scoreThreshold = values[1].first ?? 0 }
    if values.count > 2 { layer.maxBoxes = try values[2].wholes("input").first ?? 0 }
    return layer
  }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let boxes = try arrayInput(inputs)
    let scores = inputs[1]
    try require(
      boxes.count == 3 && scores.count == 3 && boxes[2] == 4 && boxes[..<2] == scores[..<2],
      "boxes and scores have the shapes \(inputs); expected [B, N, 4] and [B, N, C]", field: "input"
    )
    let (batch, count) = (boxes[0], maxBoxes)
    return [
      try ArrayShape.checked([batch, count, 4], "maxBoxes"),
      try ArrayShape.checked([batch, count, scores[2]], "maxBoxes"),
      try ArrayShape.checked([batch, count], "maxBoxes"), [batch],
    ]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(maxBoxes > 0, "maxBoxes", "\(maxBoxes)")
  }
}
