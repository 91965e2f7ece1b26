import Interpretation
import LibC
import TensorCore

/// SSD's layers, from weiliu89/caffe, branch ssd.
extension CaffeOperations {
  static let detections: [String: CaffeOperation] = [
    "PriorBox": .one(bottoms: 1...2, priorBox),
    "DetectionOutput": .one(bottoms: 3...3) { try DetectionRows($0).rows() },
  ]

  /// prior_box_layer.cpp
  private static func priorBox(_ layer: LayerRun) throws -> DoubleArray {
    let settings = layer.settings("prior_box_param")
    let (_, _, height, width) = try layer.imageShape()
    // The layer's loop uses integer sizes.
    let least = try settings.numbers("min_size").map { $0.rounded(.towardZero) }
    let most = try settings.numbers("max_size").map { $0.rounded(.towardZero) }
    try layer.require(most.isEmpty || most.count == least.count, "it has \(most.count) max_size")
    var ratios = [1.0]
    for ratio in try settings.numbers("aspect_ratio")
    where !ratios.contains(where: { abs($0 - ratio) < 1e-6 }) {
      ratios.append(ratio)
      if try settings.bool("flip") { ratios.append(1 / ratio) }
    }
    var image: [Double]
    if settings.has("img_h") || settings.has("img_w") {
      image = [Double(try settings.size("img_h")), Double(try settings.size("img_w"))]
    } else if settings.has("img_size") {
      image = [Double](repeating: Double(try settings.size("img_size")), count: 2)
    } else {
      guard layer.bottoms.count == 2, layer.bottoms[1].rank == 4 else {
        throw layer.fault("it has neither a size nor a second bottom")
      }
      image = layer.bottoms[1].shape.suffix(2).map(Double.init)
    }
    var step = [image[0] / Double(height), image[1] / Double(width)]
    if settings.has("step_h") || settings.has("step_w") {
      step = [try settings.number("step_h"), try settings.number("step_w")]
    } else if settings.has("step") {
      step = [Double](repeating: try settings.number("step"), count: 2)
    }
    let offset = try settings.number("offset")
    let each = least.count * ratios.count + most.count
    var result = try DoubleArray(
      shape: [1, 2, checkedProduct([height, width, each, 4], limit: Limits.tensorElements / 2)])
    let count = result.count / 2
    var index = 0
    func add(_ x: Double, _ y: Double, _ w: Double, _ h: Double) {
      for value in [
        (x - w / 2) / image[1], (y - h / 2) / image[0], (x + w / 2) / image[1],
        (y + h / 2) / image[0],
      ] {
        result.values[index] = value
        index += 1
      }
    }
    for row in 0..<height {
      for column in 0..<width {
        let (x, y) = ((Double(column) + offset) * step[1], (Double(row) + offset) * step[0])
        for (position, size) in least.enumerated() {
          add(x, y, size, size)
          if !most.isEmpty {
            let both = (size * most[position]).squareRoot()
            add(x, y, both, both)
          }
          for ratio in ratios where abs(ratio - 1) >= 1e-6 {
            add(x, y, size * ratio.squareRoot(), size / ratio.squareRoot())
          }
        }
      }
    }
    if try settings.bool("clip") {
      for index in 0..<count { result.values[index] = min(max(result.values[index], 0), 1) }
    }
    var variances = try settings.numbers("variance")
    if variances.isEmpty { variances = [0.1] }
    for index in 0..<count { result.values[count + index] = variances[index % variances.count] }
    return result
  }
}

/// detection_output_layer.cpp and bbox_util.cpp, for one image. Caffe returns one row per box;
/// here, the number of rows is always the maximum, and rows after the last box are 0, −1, −1, …
private struct DetectionRows {
  let layer: LayerRun
  let classes: Int
  let boxes: Int
  let isShared: Bool
  let background: Int
  let code: String
  let isVarianceInTarget: Bool
  let keep: Int
  let threshold: Double
  let overlap: Double
  let candidates: Int

  init(_ layer: LayerRun) throws {
    self.layer = layer
    let settings = layer.settings("detection_output_param")
    let suppression = settings.message("nms_param")
    classes = try settings.size("num_classes")
    let priors = layer.bottoms[2]
    boxes = priors.count / 8
    isShared = try settings.bool("share_location")
    background = try settings.int("background_label_id")
    code = try settings.symbol("code_type")
    isVarianceInTarget = try settings.bool("variance_encoded_in_target")
    keep = try settings.int("keep_top_k")
    threshold =
      settings.has("confidence_threshold")
      ? try settings.number("confidence_threshold") : -Double(Float.greatestFiniteMagnitude)
    overlap = try suppression.number("nms_threshold")
    let limit = suppression.has("top_k") ? try suppression.int("top_k") : -1
    candidates = limit > 0 ? min(limit, boxes) : boxes
    guard try suppression.number("eta") == 1 else { throw layer.missing("eta other than 1") }
    try layer.require(
      boxes > 0 && priors.count == boxes * 8 && layer.bottoms[1].count == boxes * classes
        && layer.bottoms[0].count == boxes * 4 * (isShared ? 1 : classes),
      "its bottoms do not fit \(boxes) boxes and \(classes) classes of one image")
  }

  /// bbox_util.cpp, `DecodeBBox`.
  private func decoded(_ box: Int, _ label: Int) -> [Double] {
    let (locations, priors) = (layer.bottoms[0].values, layer.bottoms[2].values)
    let start = (box * (isShared ? 1 : classes) + (isShared ? 0 : label)) * 4
    let x = Array(locations[start..<start + 4])
    let p = Array(priors[box * 4..<box * 4 + 4])
    let v =
      isVarianceInTarget ? [1, 1, 1, 1] : Array(priors[(boxes + box) * 4..<(boxes + box) * 4 + 4])
    let size = [p[2] - p[0], p[3] - p[1]]
    let moves = zip(v, x).map { $0 * $1 }
    switch code {
    case "CORNER": return zip(p, moves).map { $0 + $1 }
    case "CORNER_SIZE": return p.indices.map { p[$0] + moves[$0] * size[$0 % 2] }
    default:
      var box = p
      for axis in 0..<2 {
        let center = moves[axis] * size[axis] + (p[axis] + p[axis + 2]) / 2
        let half = exp(moves[axis + 2]) * size[axis] / 2
        (box[axis], box[axis + 2]) = (center - half, center + half)
      }
      return box
    }
  }

  /// bbox_util.cpp, `JaccardOverlap`.
  private static func overlap(_ a: [Double], _ b: [Double]) -> Double {
    let width = min(a[2], b[2]) - max(a[0], b[0])
    let height = min(a[3], b[3]) - max(a[1], b[1])
    guard width > 0, height > 0 else { return 0 }
    func area(_ box: [Double]) -> Double {
      box[2] < box[0] || box[3] < box[1] ? 0 : (box[2] - box[0]) * (box[3] - box[1])
    }
    return width * height / (area(a) + area(b) - width * height)
  }

  func rows() throws -> DoubleArray {
    var found: [(label: Int, score: Double, box: [Double])] = []
    for label in 0..<classes where label != background {
      let scores = (0..<boxes).map { layer.bottoms[1].values[$0 * classes + label] }
      let order = (0..<boxes).filter { scores[$0] > threshold }
        .sorted { (scores[$1], $0) < (scores[$0], $1) }.prefix(candidates)
      var kept: [[Double]] = []
      for index in order {
        let box = decoded(index, label)
        guard kept.allSatisfy({ Self.overlap(box, $0) <= overlap }) else { continue }
        kept.append(box)
        found.append((label, scores[index], box))
      }
    }
    if keep > 0, found.count > keep {
      let best = found.indices.sorted { (found[$1].score, $0) < (found[$0].score, $1) }
        .prefix(keep)
      found = best.sorted().map { found[$0] }
    }
    let labels = classes - ((0..<classes).contains(background) ? 1 : 0)
    let ofClass = keep > 0 ? min(keep, candidates) : candidates
    let all = try checkedProduct([labels, ofClass], limit: 1 << 22)
    let count = keep > 0 ? min(keep, all) : all
    var values: [Double] = []
    for row in found.prefix(count) { values += [0, Double(row.label), row.score] + row.box }
    for _ in min(found.count, count)..<count { values += [0, -1, -1, -1, -1, -1, -1] }
    return DoubleArray(shape: [1, 1, count, 7], values)
  }
}
