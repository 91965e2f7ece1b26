/// Predicted classes compared with the true ones.
package struct Classification: Sendable {
  /// An input whose best class is not the true one.
  package struct Mistake: Sendable {
    package let input: String
    package let truth: Int
    package let predicted: Int
    /// The score of the predicted class.
    package let score: Double
  }

  /// A class that was predicted as another.
  package struct Confusion: Sendable {
    package let truth: Int
    package let predicted: Int
    package let count: Int
  }

  package let classes: [String]
  /// The number of best classes for the top-N accuracy.
  package let top: Int
  /// The number of mistakes to keep: those with the highest scores.
  private let mistakeLimit: Int
  package private(set) var count = 0
  package private(set) var countCorrect = 0
  package private(set) var countInTop = 0
  /// The most confident first.
  package private(set) var mistakes: [Mistake] = []
  /// The counts by true and predicted class.
  private var counts: [Int: [Int: Int]] = [:]

  package init(classes: [String], top: Int, mistakeLimit: Int) {
    self.classes = classes
    self.top = min(top, classes.count)
    self.mistakeLimit = mistakeLimit
  }

  /// Adds an input. Precondition: there is one score per class, and `truth` is a class. Among equal
  /// scores, the lower class ranks higher; NaN ranks last.
  package mutating func add(_ input: String, truth: Int, scores: [Float]) {
    func score(_ index: Int) -> Float { scores[index].isNaN ? -.infinity : scores[index] }
    var predicted = 0
    for index in scores.indices where score(index) > score(predicted) { predicted = index }
    let own = score(truth)
    let better = scores.indices.reduce(0) { count, index in
      count + (score(index) > own || score(index) == own && index < truth ? 1 : 0)
    }
    count += 1
    counts[truth, default: [:]][predicted, default: 0] += 1
    if better < top { countInTop += 1 }
    guard better > 0 else {
      countCorrect += 1
      return
    }
    let mistake = Mistake(
      input: input, truth: truth, predicted: predicted, score: Double(scores[predicted]))
    let position = mistakes.firstIndex { $0.score < mistake.score } ?? mistakes.count
    mistakes.insert(mistake, at: position)
    if mistakes.count > mistakeLimit { mistakes.removeLast() }
  }

  package var accuracy: Double { share(countCorrect, of: count) ?? 0 }
  package var topAccuracy: Double { share(countInTop, of: count) ?? 0 }

  /// The number of inputs of class `truth` that were predicted as `predicted`.
  package func count(_ truth: Int, takenFor predicted: Int) -> Int {
    counts[truth]?[predicted] ?? 0
  }

  /// The number of inputs in the class.
  package func support(_ index: Int) -> Int { counts[index]?.values.reduce(0, +) ?? 0 }

  /// The number of inputs that were predicted as the class.
  package func predictions(_ index: Int) -> Int {
    counts.values.reduce(0) { $0 + ($1[index] ?? 0) }
  }

  /// The recall: the fraction of the class's inputs that were predicted as it; nil if it has none.
  package func recall(_ index: Int) -> Double? {
    share(count(index, takenFor: index), of: support(index))
  }

  /// The precision: the fraction of the inputs predicted as the class that belong to it; nil if
  /// none were predicted as it.
  package func precision(_ index: Int) -> Double? {
    share(count(index, takenFor: index), of: predictions(index))
  }

  /// The confused classes, most frequent first.
  package var confusions: [Confusion] {
    counts.flatMap { truth, row in
      row.compactMap { predicted, count in
        truth == predicted ? nil : Confusion(truth: truth, predicted: predicted, count: count)
      }
    }.sorted { ($1.count, $0.truth, $0.predicted) < ($0.count, $1.truth, $1.predicted) }
  }

  private func share(_ part: Int, of whole: Int) -> Double? {
    whole == 0 ? nil : Double(part) / Double(whole)
  }
}
