import LibC
import TensorCore

func exponential(_ x: Double) -> Double { exp(x) }

/// The function that turns a network's scores into probabilities.
package enum ScoreFunction: String, Sendable, CaseIterable {
  /// None, since they are probabilities.
  case none
  case softmax, sigmoid
}

/// SSD's outputs: four offsets for each prior box, and a score per class.
package struct SSDDecoder: Sendable, Equatable {
  package var priors: PriorBoxes
  package var function = ScoreFunction.none
  /// The background class; nil if there is none.
  package var background: Int? = 0

  /// All boxes and classes but the background with a score above `threshold`, in fractions.
  ///
  /// - Parameters:
  ///   - locations: `4 · boxes` offsets, with those of a box adjacent.
  ///   - scores: `classes · boxes` values, with those of a box adjacent.
  package func objects(
    locations: Tensor, scores: Tensor, threshold: Double
  ) throws -> [DetectedObject] {
    let count = priors.boxes.count
    try require(
      count > 0 && locations.count == 4 * count && scores.count > 0 && scores.count % count == 0,
      .mismatch,
      "\(locations.count) offsets and \(scores.count) scores do not match \(count) prior boxes",
      hint: "a box has four offsets, and one score per class")
    let classes = scores.count / count
    try require(
      (background ?? -1) < classes, .mismatch,
      "the background class \(background ?? 0) does not exist among \(classes) classes"
    )
    var objects: [DetectedObject] = []
    var isProbability = true
    locations.withUnsafeElements { offsets in
      scores.withUnsafeElements { elements in
        for index in 0..<count {
          let values = function.values(
            elements[index * classes..<(index + 1) * classes].map(Double.init))
          for (number, score) in values.enumerated() where number != background {
            if score < -1e-3 || score > 1.001 { isProbability = false }
            guard score > threshold else { continue }
            let at = 4 * index
            let box = priors.box(
              index,
              offsets: (
                Double(offsets[at]), Double(offsets[at + 1]), Double(offsets[at + 2]),
                Double(offsets[at + 3])
              ))
            guard box.isFinite else { continue }
            let label = background.map { number > $0 ? number - 1 : number } ?? number
            objects.append(DetectedObject(box: box, classIndex: label, score: score))
          }
        }
      }
    }
    try require(
      isProbability, .mismatch, "the scores are not between 0 and 1",
      hint: "apply \(setting: "detector") scores=softmax or scores=sigmoid")
    return objects
  }
}

extension ScoreFunction {
  /// The probabilities for scores.
  func values(_ row: some Sequence<Double>) -> [Double] {
    switch self {
    case .none: return Array(row)
    case .sigmoid: return row.map(LinkFunction.logistic)
    case .softmax: return LinkFunction.softmax(Array(row))
    }
  }
}

/// The rows of Caffe's DetectionOutput, `[1, 1, N, 7]`: image, class, score, xmin, ymin, xmax, ymax
/// in fractions of the image. Filler rows have the class −1. Overlaps have already been suppressed.
package struct DetectionRows: Sendable, Equatable {
  /// The background class; nil if there is none.
  package var background: Int? = 0

  package func objects(in rows: Tensor, threshold: Double) throws -> [DetectedObject] {
    try require(
      rows.shape.last == 7, .mismatch, "rows of shape \(rows.shape); each needs seven numbers")
    let values = rows.elements.map(Double.init)
    return stride(from: 0, to: values.count, by: 7).compactMap { at in
      let (label, score) = (values[at + 1], values[at + 2])
      guard label >= 0, label < 1e6, score > threshold, Int(label) != background else { return nil }
      let box = Box(
        left: values[at + 3], top: values[at + 4], right: values[at + 5], bottom: values[at + 6])
      let number = Int(label)
      return box.isFinite
        ? DetectedObject(
          box: box, classIndex: background.map { number > $0 ? number - 1 : number } ?? number,
          score: score) : nil
    }
  }
}
