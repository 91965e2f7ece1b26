import TensorCore

/// The outputs of Faster R-CNN and R-FCN: regions of the image, each with scores and box offsets
/// per class, as py-faster-rcnn reads them.
package struct RegionDecoder: Sendable {
  /// The part of the network's image without letterboxing, in pixels, and the factors by which it
  /// was scaled.
  package struct Extent: Sendable {
    package var width: Double
    package var height: Double
    package var scaleX = 1.0
    package var scaleY = 1.0

    package init(width: Double, height: Double) {
      self.width = width
      self.height = height
    }
  }

  package var extent: Extent
  /// The size of the image that the network receives.
  private let width: Int
  private let height: Int

  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
    extent = Extent(width: Double(width), height: Double(height))
  }

  /// All boxes of classes other than the first one, the background, with a score above `threshold`,
  /// in fractions of the image. A region includes its last pixel, so a box ends one pixel further.
  ///
  /// - Parameters:
  ///   - regions: `[R, 5]`: image, x₁, y₁, x₂, y₂; a negative image index means no region.
  ///   - scores: `[R, classes]`.
  ///   - offsets: `[R, 4 · classes]`, or `[R, 8]` for boxes that do not depend on the class.
  package func objects(
    regions: Tensor, scores: Tensor, offsets: Tensor, threshold: Double
  ) throws -> [DetectedObject] {
    let count = regions.count / 5
    try require(
      count > 0 && regions.count == 5 * count && scores.count % count == 0
        && offsets.count % count == 0, .mismatch,
      "\(regions.shape) regions, \(scores.shape) scores and \(offsets.shape) offsets do not match")
    let (classes, width) = (scores.count / count, offsets.count / count)
    let isShared = width != 4 * classes
    try require(
      classes > 1 && (!isShared || width == 8), .mismatch,
      "each region has \(counted(classes, "score")) and \(counted(width, "offset"))",
      hint: "there are four offsets per class, or eight")
    var objects: [DetectedObject] = []
    let (regions, scores, offsets) = (regions.elements, scores.elements, offsets.elements)
    for index in 0..<count where regions[5 * index] >= 0 {
      let region = regions[5 * index..<5 * index + 5].dropFirst().map(Double.init)
      for number in 1..<classes {
        let score = Double(scores[index * classes + number])
        guard score > threshold else { continue }
        let at = index * width + 4 * (isShared ? 1 : number)
        let box = self.box(region, offsets[at..<at + 4].map(Double.init))
        guard box.isFinite else { continue }
        objects.append(DetectedObject(box: box, classIndex: number - 1, score: score))
      }
    }
    return objects
  }

  private func box(_ region: [Double], _ offsets: [Double]) -> Box {
    func side(_ position: Int, _ scale: Double, _ length: Double) -> (Double, Double) {
      let start = region[position] / scale
      let size = region[position + 2] / scale - start + 1
      let center = offsets[position] * size + start + 0.5 * size
      let half = 0.5 * exponential(offsets[position + 2]) * size
      // Before it was scaled, the image's last pixel.
      let last = max(0, length / scale - 1)
      func inside(_ value: Double) -> Double { max(0, min(value, last)) }
      return (inside(center - half) * scale, (inside(center + half) + 1) * scale)
    }
    let (left, right) = side(0, extent.scaleX, extent.width)
    let (top, bottom) = side(1, extent.scaleY, extent.height)
    return Box(
      left: left / Double(width), top: top / Double(height), right: right / Double(width),
      bottom: bottom / Double(height))
  }
}

extension Detector {
  /// Finds regions, scores and offsets among the outputs, by the settings or by their shapes.
  func regionObjects(_ outputs: [DetectorOutput]) throws -> [DetectedObject] {
    func rows(_ output: DetectorOutput) -> Int { output.shape.first ?? 1 }
    func columns(_ output: DetectorOutput) -> Int { output.value.count / max(1, rows(output)) }
    let candidates = outputs.filter { columns($0) == 5 && $0.value.shape.last != 1 }
    let named = settings.text("regions")
    guard
      let regions = candidates.first(where: { $0.name == named })
        ?? candidates.first(where: { $0.name.lowercased().contains("roi") }) ?? candidates.first
    else {
      throw ModelError(
        .mismatch, "no output has regions of five numbers",
        hint: "convert the prototxt with its Proposal layer")
    }
    let rest = outputs.filter { $0.name != regions.name && rows($0) == rows(regions) }
    func pair(_ fits: (Int, Int) -> Bool) -> (scores: DetectorOutput, offsets: DetectorOutput)? {
      for scores in rest where columns(scores) > 1 {
        if let offsets = rest.first(where: {
          $0.name != scores.name && fits(columns(scores), columns($0))
        }) {
          return (scores, offsets)
        }
      }
      return nil
    }
    guard let found = pair({ $1 == 4 * $0 }) ?? pair({ $1 == 8 }) else {
      throw ModelError(
        .mismatch,
        "no two outputs match as scores and offsets of \(rows(regions)) regions: "
          + rest.map { "\($0.name) \($0.value.shape)" }.joined(separator: ", "))
    }
    var decoder = RegionDecoder(width: width, height: height)
    decoder.extent = extent ?? decoder.extent
    return try decoder.objects(
      regions: regions.value, scores: found.scores.value, offsets: found.offsets.value,
      threshold: threshold)
  }
}
