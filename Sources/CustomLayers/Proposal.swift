import LibC
import TensorCore

/// The regions of a region proposal network, as in Faster R-CNN.
final class Proposal: BuiltInCustomLayer {
  static let className = "Proposal"
  static let notes = CustomLayerNotes(
    "the regions of a region proposal network: shifted and scaled by the offsets, clipped to the image, and the best kept after non-maximum suppression; inputs scores [1, 2A, H, W], offsets [1, 4A, H, W] and the image's (height, width, scale); output [R, 5], each (0, x₁, y₁, x₂, y₂), after the last one (−1, 0, 0, 0, 0)",
    parameters: [
      "`feat_stride`: pixels between two cells (16)", "`base_size`: of the anchors (16)",
      "`ratios`, `scales`: numbers separated by commas (0.5,1,2 and 8,16,32)",
      "`pre_nms_topn`: candidates, 0 for all (6000)", "`post_nms_topn`: R (300)",
      "`nms_thresh`: the largest overlap (0.7)",
      "`min_size`: of a region before scaling (16)",
      "`keeps_small`: whether smaller ones have the score 0 instead (false)",
      "`has_scores`: whether the second output is the scores [R, 1, 1, 1] (false)",
    ])

  private let proposals: RegionProposals
  private let hasScores: Bool

  init(parameters: [String: CustomLayerParameter]) throws {
    let values = CustomLayerParameters(values: parameters)
    let anchors = RegionProposals.anchors(
      base: try values.int("base_size", in: 1...1 << 16) ?? 16,
      ratios: try values.positiveNumbers("ratios") ?? [0.5, 1, 2],
      scales: try values.positiveNumbers("scales") ?? [8, 16, 32])
    hasScores = try values.bool("has_scores") ?? false
    proposals = RegionProposals(
      anchors: anchors, stride: try values.float("feat_stride") ?? 16,
      minimum: try values.float("min_size") ?? 16,
      keepsSmall: try values.bool("keeps_small") ?? false,
      candidates: try values.int("pre_nms_topn", in: 0...1 << 16) ?? 6000,
      count: try values.int("post_nms_topn", in: 1...1 << 12) ?? 300,
      overlap: try values.float("nms_thresh") ?? 0.7)
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let shapes = try inputs(inputShapes, 3...3)
    let (scores, offsets) = (try PlaneShape(planes: shapes[0]), try PlaneShape(planes: shapes[1]))
    let count = proposals.anchors.count / 4
    for (shape, factor) in [(scores, 2), (offsets, 4)] {
      try require(
        shape.images == 1 && shape.channels == factor * count && shape.area == scores.area,
        "\(counted(count, "anchor")) of one image need scores [1, \(2 * count), H, W] and offsets "
          + "[1, \(4 * count), H, W], not \(shapes[0]) and \(shapes[1])", field: "input")
    }
    try require(
      shapes[2].reduce(1, *) >= 3, "the image's size and scale have the shape \(shapes[2])",
      field: "input", hint: "they are height, width and scale")
    return proposals.outputShapes(rank: shapes[0].count, hasScores: hasScores)
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    let maps = RegionProposals.Maps(
      scores: inputs[0].first, offsets: inputs[1].first, shape: PlaneShape(inputs[0].shape),
      info: inputs[2].first, infoCount: inputs[2].elements.count)
    proposals.propose(
      maps, to: outputs[0].first, scores: outputs.count > 1 ? outputs[1].first : nil
    ) { Float(exp(Double($0))) }
  }
}
