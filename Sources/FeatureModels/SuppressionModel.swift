extension NonMaximumSuppressionModel: DirectFeatureModel {
  func run(_ inputs: FeatureInputs) throws -> [String: FeatureValue] {
    let boxes = try rows(coordinatesInput, inputs)
    let confidences = try rows(confidenceInput, inputs, count: boxes.shape[0])
    let (count, classes) = (confidences.shape[0], confidences.shape[1])
    let overlap = inputs.values[overlapInput]?.number ?? overlap
    let threshold = inputs.values[confidenceThresholdInput]?.number ?? confidence
    let perClass = if case .pickTop(true)? = method { true } else { false }
    func row(_ array: NumberArray, _ index: Int) -> ArraySlice<Double> {
      let width = array.shape[1]
      return array.elements[(index * width)..<((index + 1) * width)]
    }
    let candidates = (0..<count).compactMap { index -> Candidate? in
      let values = row(confidences, index)
      guard let best = values.indices.max(by: { values[$0] < values[$1] }),
        values[best] >= threshold
      else { return nil }
      return Candidate(
        index: index, label: best - values.startIndex, confidence: values[best],
        box: Array(row(boxes, index)))
    }.sorted { ($1.confidence, $0.index) < ($0.confidence, $1.index) }
    var kept: [Candidate] = []
    for candidate in candidates
    where !kept.contains(where: {
      (!perClass || $0.label == candidate.label) && $0.overlap(candidate) > overlap
    }) {
      kept.append(candidate)
    }
    let rows = try outputRows(kept.count, inputs)
    _ = try checkedProduct(
      [max(0, rows - count), max(4, classes)], limit: FeatureInputs.elementLimit)
    func picked(_ array: NumberArray, _ width: Int) -> FeatureValue {
      let elements = kept.prefix(rows).flatMap { row(array, $0.index) }
      let padding = [Double](repeating: 0, count: rows * width - elements.count)
      return .numbers(NumberArray(shape: [rows, width], elements + padding))
    }
    return [confidenceOutput: picked(confidences, classes), coordinatesOutput: picked(boxes, 4)]
  }

  private struct Candidate {
    let index: Int
    let label: Int
    let confidence: Double
    /// The center, the width and the height.
    let box: [Double]

    /// The intersection over union of the two boxes.
    func overlap(_ other: Candidate) -> Double {
      func side(_ axis: Int) -> Double {
        let low = max(box[axis] - box[axis + 2] / 2, other.box[axis] - other.box[axis + 2] / 2)
        let high = min(box[axis] + box[axis + 2] / 2, other.box[axis] + other.box[axis + 2] / 2)
        return max(0, high - low)
      }
      let shared = side(0) * side(1)
      let union = box[2] * box[3] + other.box[2] * other.box[3] - shared
      return union > 0 ? shared / union : 0
    }
  }

  /// One row per box; by default, rows have four coordinates.
  private func rows(_ name: String, _ inputs: FeatureInputs, count: Int? = nil) throws
    -> NumberArray
  {
    let array = try (inputs.values[name]?.numberArray).orThrow(
      ModelError(.mismatch, "no value for input \(name)"))
    let count = count ?? array.elements.count / 4
    let width = count == 0 ? array.shape.last ?? 0 : array.elements.count / count
    // Networks add axes of length 1 before and after those of boxes and numbers.
    func long(_ shape: [Int]) -> [Int] { shape.filter { $0 != 1 } }
    try require(
      long(array.shape) == long([count, width]) && count * width == array.elements.count,
      .mismatch,
      "an array of shape \(array.shape) does not have a row for each of \(count) boxes",
      field: name)
    return NumberArray(shape: [count, width], array.elements)
  }

  /// The number of boxes that the shapes of the outputs request.
  private func outputRows(_ count: Int, _ inputs: FeatureInputs) throws -> Int {
    for name in [confidenceOutput, coordinatesOutput] {
      guard
        case .multiArray(let array)? = inputs.description.output.first(where: { $0.name == name })?
          .type?.kind
      else { continue }
      if case .range(let ranges)? = array.flexibility, let range = ranges.first {
        let least = min(max(0, range.lowerBound), Limits.dimension)
        return range.upperBound > 0 ? min(max(count, least), range.upperBound) : max(count, least)
      }
      if array.shape.count == 2, array.flexibility == nil {
        return try checkedProduct(Array(array.shape.prefix(1)), limit: Limits.dimension)
      }
    }
    return count
  }
}
