extension Sequence {
  /// The elements with the highest scores first; of equal ones, the earlier comes first.
  func ranked(by score: (Element) -> Double) -> [Element] {
    enumerated().map { (score($1), $0, $1) }.sorted { ($0.0, $1.1) > ($1.0, $0.1) }.map(\.2)
  }
}

/// Greedy non-maximum suppression, class by class.
package enum Suppression {
  /// The number of best candidates per class that are considered, so that a threshold of 0 on a
  /// large grid does not take minutes.
  package static let candidatesOfClass = 4096

  /// The remaining objects, best first.
  ///
  /// For each class, the object with the highest score is kept, and those with an intersection over
  /// union above `overlap` with it are removed; this repeats for the rest. Of equal scores, the
  /// earlier object comes first.
  package static func best(_ objects: [DetectedObject], overlap: Double) -> [DetectedObject] {
    let ranked = objects.ranked(by: \.score)
    var classes: [Int: [DetectedObject]] = [:]
    for object in ranked { classes[object.classIndex, default: []].append(object) }
    return ranked.isEmpty
      ? []
      : classes.keys.sorted().flatMap { key in
        survivors(of: classes[key, default: []].prefix(candidatesOfClass), overlap: overlap)
      }.sorted {
        ($0.score, $1.classIndex) > ($1.score, $0.classIndex)
      }
  }

  private static func survivors(
    of ranked: ArraySlice<DetectedObject>, overlap: Double
  ) -> [DetectedObject] {
    var kept: [DetectedObject] = []
    for object in ranked where !kept.contains(where: { $0.box.overlap(object.box) > overlap }) {
      kept.append(object)
    }
    return kept
  }
}
