/// An object in an image's ground truth.
package struct TrueObject: Sendable, Equatable {
  package var image: Int
  package var category: Int
  package var box: Box
  /// The area of the object itself in pixels, which makes it small, medium or large.
  package var area: Double
  /// Whether it is a group of objects in one box: detections inside are neither right nor wrong.
  package var isCrowd: Bool

  package init(image: Int, category: Int, box: Box, area: Double? = nil, isCrowd: Bool = false) {
    (self.image, self.category, self.box) = (image, category, box)
    self.area = area ?? box.area
    self.isCrowd = isCrowd
  }
}

/// An object that a detector found, with the image and category numbers of the ground truth.
package struct FoundObject: Sendable, Equatable {
  package var image: Int
  package var category: Int
  package var box: Box
  package var score: Double

  package init(image: Int, category: Int, box: Box, score: Double) {
    (self.image, self.category, self.box, self.score) = (image, category, box, score)
  }
}

/// Average precision and recall of detections by COCO's rules, as in pycocotools.
///
/// A detection is right if its overlap with an object of its class reaches a threshold; the best
/// detections are matched first, and each object is matched once. The precision at each of 101
/// recalls is the best at any recall at least as high; AP is the mean over these, over ten
/// thresholds from 0.5 to 0.95 and over the classes.
package struct COCOEvaluation: Sendable {
  /// The ranges of areas for which objects are evaluated.
  package enum Size: Int, CaseIterable, Sendable {
    case all, small, medium, large

    var areas: ClosedRange<Double> {
      switch self {
      case .all: 0...1e10
      case .small: 0...1024
      case .medium: 1024...9216
      case .large: 9216...1e10
      }
    }
  }

  /// The overlap thresholds of a right detection.
  package static let overlaps = [Double](
    (0..<9).map { step -> Double in 0.5 + Double(step) * (0.45 / 9) } + [0.95])
  private static let recalls: [Double] = (0..<100).map { Double($0) * 0.01 } + [1]
  /// The maximum numbers of detections per image and class, best ones first.
  package static let counts = [1, 10, 100]

  /// The classes of the ground truth, in ascending order.
  package let categories: [Int]
  /// The curve for each class, size and count; nil if the ground truth has no object of the class
  /// and size.
  private var curves: [Key: Curve] = [:]

  private struct Key: Hashable {
    var category: Int
    var size: Size
    var count: Int
  }

  private struct Curve {
    /// The mean precision over the recalls, and the largest recall, for each threshold.
    var precision: [Double]
    var recall: [Double]
  }

  package init(truth: [TrueObject], found: [FoundObject], categories: [Int]) {
    self.categories = Array(Set(categories)).sorted()
    let truths = Dictionary(grouping: truth) {
      ImageCategory(category: $0.category, image: $0.image)
    }
    let founds = Dictionary(grouping: found) {
      ImageCategory(category: $0.category, image: $0.image)
    }
    let positions = Dictionary(grouping: Set(truths.keys).union(founds.keys), by: \.category)
    for category in self.categories {
      let images = (positions[category] ?? []).sorted { $0.image < $1.image }.map { position in
        MatchedImage(truth: truths[position] ?? [], found: founds[position] ?? [])
      }
      for size in Size.allCases {
        let matches = images.map { $0.matches(size) }
        for count in Self.counts {
          curves[Key(category: category, size: size, count: count)] = Self.curve(matches, count)
        }
      }
    }
  }

  private struct ImageCategory: Hashable {
    var category: Int
    var image: Int
  }

  /// AP over classes and thresholds, or at one of `overlaps`; nil without such objects.
  package func averagePrecision(
    overlap: Int? = nil, size: Size = .all, category: Int? = nil
  ) -> Double? {
    mean(size, 100, category) { curve in
      overlap.map { [curve.precision[$0]] } ?? curve.precision
    }
  }

  /// AR: the mean recall over classes and thresholds, with `count` detections per image.
  package func averageRecall(count: Int, size: Size = .all, category: Int? = nil) -> Double? {
    mean(size, count, category, \.recall)
  }

  private func mean(
    _ size: Size, _ count: Int, _ category: Int?, _ values: (Curve) -> [Double]
  ) -> Double? {
    let found = (category.map { [$0] } ?? categories).flatMap { category in
      curves[Key(category: category, size: size, count: count)].map(values) ?? []
    }
    return found.isEmpty ? nil : found.reduce(0, +) / Double(found.count)
  }

  /// COCO's twelve metrics in its order, under its names.
  package var summary: [(name: String, value: Double?)] {
    [
      ("AP", averagePrecision()), ("AP50", averagePrecision(overlap: 0)),
      ("AP75", averagePrecision(overlap: 5)), ("APsmall", averagePrecision(size: .small)),
      ("APmedium", averagePrecision(size: .medium)), ("APlarge", averagePrecision(size: .large)),
      ("AR1", averageRecall(count: 1)), ("AR10", averageRecall(count: 10)),
      ("AR100", averageRecall(count: 100)), ("ARsmall", averageRecall(count: 100, size: .small)),
      ("ARmedium", averageRecall(count: 100, size: .medium)),
      ("ARlarge", averageRecall(count: 100, size: .large)),
    ]
  }

  /// The objects of one image that no detection matches, and the detections that match no object,
  /// at an overlap of 0.5.
  package static func mistakes(
    truth: [TrueObject], found: [FoundObject]
  ) -> (missed: Int, wrong: Int) {
    let truths = Dictionary(grouping: truth, by: \.category)
    let founds = Dictionary(grouping: found, by: \.category)
    var (missed, wrong) = (0, 0)
    for category in Set(truths.keys).union(founds.keys) {
      let matches = MatchedImage(truth: truths[category] ?? [], found: founds[category] ?? [])
        .matches(.all)
      let outcomes = matches.detections.map { $0.outcomes[0] }
      missed += matches.wanted - outcomes.count { $0 == .right }
      wrong += outcomes.count { $0 == .wrong }
    }
    return (missed, wrong)
  }

  private static func curve(_ images: [SizedMatches], _ count: Int) -> Curve? {
    let wanted = images.reduce(0) { $0 + $1.wanted }
    guard wanted > 0 else { return nil }
    let ranked = images.flatMap { $0.detections.prefix(count) }.ranked(by: \.score)
    var curve = Curve(precision: [], recall: [])
    for threshold in overlaps.indices {
      var (right, wrong) = (0.0, 0.0)
      var points: [(recall: Double, precision: Double)] = []
      for detection in ranked {
        switch detection.outcomes[threshold] {
        case .right: right += 1
        case .wrong: wrong += 1
        case .ignored: break
        }
        // Adding the machine epsilon avoids 0 / 0, as in pycocotools.
        points.append((right / Double(wanted), right / (right + wrong + .ulpOfOne)))
      }
      for index in points.indices.dropLast().reversed() {
        points[index].precision = max(points[index].precision, points[index + 1].precision)
      }
      var sum = 0.0
      var position = 0
      for recall in recalls {
        while position < points.count, points[position].recall < recall { position += 1 }
        if position < points.count { sum += points[position].precision }
      }
      curve.precision.append(sum / Double(recalls.count))
      curve.recall.append(points.last?.recall ?? 0)
    }
    return curve
  }
}

/// The matches between the detections of one class in an image and its objects of one size.
private struct SizedMatches {
  enum Outcome { case right, wrong, ignored }

  struct Detection {
    var score: Double
    /// One outcome per overlap threshold.
    var outcomes: [Outcome]
  }

  /// The best detections, best first, as many as count.
  var detections: [Detection]
  /// The number of objects to find.
  var wanted: Int
}

/// The objects and the best detections of one class in an image, and their overlaps.
private struct MatchedImage {
  private let truth: [TrueObject]
  private let found: [FoundObject]
  /// Overlaps by detection and object; relative to the detection's area if the object is a crowd.
  private let overlaps: [[Double]]

  init(truth: [TrueObject], found: [FoundObject]) {
    self.truth = truth
    self.found = Array(found.ranked(by: \.score).prefix(COCOEvaluation.counts.last ?? 0))
    overlaps = self.found.map { detection in
      truth.map { detection.box.overlap($0.box, isCrowd: $0.isCrowd) }
    }
  }

  func matches(_ size: COCOEvaluation.Size) -> SizedMatches {
    let isIgnored = truth.map { $0.isCrowd || !size.areas.contains($0.area) }
    // Objects that count come first.
    let order = truth.indices.filter { !isIgnored[$0] } + truth.indices.filter { isIgnored[$0] }
    var detections = found.map { SizedMatches.Detection(score: $0.score, outcomes: []) }
    for threshold in COCOEvaluation.overlaps {
      var isTaken = [Bool](repeating: false, count: truth.count)
      for index in found.indices {
        var best = min(threshold, 1 - 1e-10)
        var match: Int?
        for object in order {
          if isTaken[object], !truth[object].isCrowd { continue }
          if let match, !isIgnored[match], isIgnored[object] { break }
          if overlaps[index][object] < best { continue }
          best = overlaps[index][object]
          match = object
        }
        if let match {
          isTaken[match] = true
          detections[index].outcomes.append(isIgnored[match] ? .ignored : .right)
        } else {
          detections[index].outcomes.append(
            size.areas.contains(found[index].box.area) ? .wrong : .ignored)
        }
      }
    }
    return SizedMatches(detections: detections, wanted: isIgnored.count { !$0 })
  }
}
