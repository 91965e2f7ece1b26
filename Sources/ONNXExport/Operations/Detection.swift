import CoreMLModel
import TensorCore

let detectionRules: [String: ONNXRule] = [
  "non_maximum_suppression": { try $0.suppression() }
]

extension ExportedOperation {
  /// The best boxes of each item with their scores, their indices and their number. Unused entries
  /// are zeros, with the index −1.
  fileprivate func suppression() throws -> [GraphValue] {
    var (boxes, scores) = (try value("boxes"), try value("scores"))
    try require(
      boxes.rank == 3 && scores.rank == 3, "the ranks are \(boxes.rank) and \(scores.rank)",
      field: "boxes")
    // Since iOS 17, boxes are along the last axis, and none is removed because of its score.
    let isTransposed = try optional("score_threshold") == nil
    func swapped(_ x: GraphValue) throws -> GraphValue {
      try isTransposed ? transpose(x, [0, 2, 1]) : x
    }
    (boxes, scores) = (try swapped(boxes), try swapped(scores))
    let (limit, lowest) = (try int("max_boxes", 0), Float(-3e38))
    guard let items = scores.shape[0], let classes = scores.shape[2], (1...64).contains(items),
      (1...1 << 16).contains(limit), (1...1 << 16).contains(classes)
    else { throw unsupported("the sizes are not known, or are too large", field: "scores") }
    let best = try cast(reduce("ReduceMax", scores, [2]), to: .float32)
    var rivals = best
    let isOfClass = try bool("per_class_suppression")
    if isOfClass {
      // A box only counts in the class of its best score.
      let position = try add(
        "ArgMax", [scores], [("axis", .int(2)), ("keepdims", .int(1))], type: .int64)
      let isBest = try add("Equal", [position, list(Array(0..<classes))], type: .bool)
      rivals = try add(
        "Where", [isBest, cast(scores, to: .float32), scalar(lowest, .float32)], type: .float32,
        shape: scores.shape)
    }
    rivals = try transpose(rivals, [0, 2, 1])
    let bounds = try [float("iou_threshold", 0), max(float("score_threshold", lowest), lowest)]
      .map { try array([$0], [1], .float32) }
    func part(_ x: GraphValue, _ start: Int, _ end: Int, axis: Int = 0) throws -> GraphValue {
      try add("Slice", [x, list([start]), list([end]), list([axis])])
    }
    func concat(_ parts: [GraphValue]) throws -> GraphValue {
      try parts.count == 1 ? parts[0] : add("Concat", parts, [("axis", .int(0))])
    }
    var results: [[GraphValue]] = [[], [], [], []]
    for item in 0..<items {
      let found = try add(
        "NonMaxSuppression",
        [
          cast(part(boxes, item, item + 1), to: .float32), part(rivals, item, item + 1),
          list([limit]),
        ] + bounds, [("center_point_box", .int(1))], type: .int64, shape: [nil, 3])
      var index = try squeeze(part(found, 2, 3, axis: 1), [1])
      if isOfClass {
        let own = try reshape(part(best, item, item + 1), [-1])
        let values = try add("Gather", [own, index])
        let count = try add("Shape", [index], type: .int64)
        index = try add("Gather", [index, addAll("TopK", [values, count], outputs: 2)[1]])
      }
      let positions = try part(concat([index, list([Int](repeating: -1, count: limit))]), 0, limit)
      // The last row, at index −1, contains zeros.
      func chosen(_ x: GraphValue, _ width: Int) throws -> GraphValue {
        let zeros = try array([Float](repeating: 0, count: width), [1, width], x.type)
        let rows = try concat([reshape(part(x, item, item + 1), [-1, width]), zeros])
        return try unsqueeze(add("Gather", [rows, positions]), [0])
      }
      results[0].append(try chosen(boxes, 4))
      results[1].append(try chosen(scores, classes))
      results[2].append(try unsqueeze(positions, [0]))
      results[3].append(
        try add("Min", [add("Shape", [index], type: .int64), list([limit])], type: .int64))
    }
    let joined = try results.map(concat)
    return try [
      swapped(joined[0]), swapped(joined[1]), cast(joined[2], to: .int32),
      cast(joined[3], to: .int32),
    ]
  }
}
