import CoreMLModel
import TensorCore

let detectionRules: [OperationRule] = [
  OperationRule(
    "non_maximum_suppression",
    "boxes scores iou_threshold score_threshold? max_boxes per_class_suppression?",
    "non-maximum suppression: the best of overlapping boxes (center and size), their scores, their indices, and until "
      + "iOS 16 their number"
  ) { call in
    var (boxes, scores) = (try call.value("boxes"), try call.value("scores"))
    try require(
      boxes.rank == 3 && scores.rank == 3,
      "the shapes are \(boxes.shape) and \(scores.shape)", field: "boxes")
    // Since iOS 17, boxes are along the last axis, and none is removed because of its score.
    let isTransposed = try call.optional("score_threshold") == nil
    if isTransposed {
      (boxes, scores) = (
        try call.transposed(boxes, [0, 2, 1]), try call.transposed(scores, [0, 2, 1])
      )
    }
    var layer = NonMaximumSuppression()
    layer.iouThreshold = try call.float("iou_threshold", 0)
    layer.scoreThreshold = try call.float("score_threshold", -.greatestFiniteMagnitude)
    layer.maxBoxes = try call.int("max_boxes") ?? 0
    layer.perClassSuppression = try call.bool("per_class_suppression")
    var results = try call.addAll(
      layer, [boxes, scores], types: [boxes.type, scores.type, .int32, .int32])
    if isTransposed {
      for index in 0..<2 { results[index] = try call.transposed(results[index], [0, 2, 1]) }
    }
    return results
  }
]
