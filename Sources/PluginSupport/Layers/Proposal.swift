import CoreML
import Foundation

/// The regions of a region proposal network, after non-maximum suppression.
///
/// The inputs are scores, offsets, and the image's height, width and scale.
///
/// Core ML runs it on the CPU: suppression is sequential.
final class Proposal: NSObject, MLCustomLayer {
  private let proposals: RegionProposals
  private let hasScores: Bool

  required init(parameters: [String: Any]) throws {
    let values = LayerParameters(parameters)
    func numbers(_ name: String) throws -> [Float]? {
      guard let text = try values.text(name) else { return nil }
      return try text.split(separator: ",").map { part in
        guard let number = Float(part.filter { $0 != " " }), number > 0, number.isFinite else {
          throw LayerFault.parameter(name)
        }
        return number
      }
    }
    let anchors = RegionProposals.anchors(
      base: try values.int("base_size", in: 1...1 << 16) ?? 16,
      ratios: try numbers("ratios") ?? [0.5, 1, 2], scales: try numbers("scales") ?? [8, 16, 32])
    hasScores = try values.bool("has_scores") ?? false
    proposals = RegionProposals(
      anchors: anchors, stride: try values.float("feat_stride") ?? 16,
      minimum: try values.float("min_size") ?? 16,
      keepsSmall: try values.bool("keeps_small") ?? false,
      candidates: try values.int("pre_nms_topn", in: 0...1 << 16) ?? 6000,
      count: try values.int("post_nms_topn", in: 1...1 << 12) ?? 300,
      overlap: try values.float("nms_thresh") ?? 0.7)
    super.init()
  }

  func setWeightData(_ weights: [Data]) throws {}

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes, inputs: 3...3) { shapes in
      let (scores, offsets) = (
        try PlaneShape(planes: shapes[0]), try PlaneShape(planes: shapes[1])
      )
      let count = proposals.anchors.count / 4
      guard scores.images == 1, scores.channels == 2 * count, offsets.images == 1,
        offsets.channels == 4 * count, offsets.area == scores.area, shapes[2].reduce(1, *) >= 3
      else { throw LayerFault.shape(shapes) }
      return proposals.outputShapes(rank: shapes[0].count, hasScores: hasScores)
    }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    let maps = RegionProposals.Maps(
      scores: try inputs[0].floats(), offsets: try inputs[1].floats(),
      shape: PlaneShape(inputs[0].sizes), info: try inputs[2].floats(), infoCount: inputs[2].count)
    proposals.propose(
      maps, to: try outputs[0].floats(), scores: outputs.count > 1 ? try outputs[1].floats() : nil
    ) { Float(exp(Double($0))) }
  }
}
