import ModelPrediction
import TensorCore
import Verification

/// The classes that a model predicts for many inputs, compared with the true ones.
package struct ClassEvaluation {
  private var labels: InputLabels
  private let names: [String]?
  private let output: String?
  private let top: Int
  private let mistakeLimit: Int
  private var numbers: ClassNumbers?
  /// The evaluation; nil before the first input.
  package private(set) var result: Classification?

  /// - Parameters:
  ///   - names: the model's classes; nil if it has no labels.
  ///   - output: the output with a score per class; nil for the only one.
  package init(
    _ labels: InputLabels, names: [String]?, output: String? = nil, top: Int = 5,
    mistakeLimit: Int = ComparisonSummary.worstCount
  ) {
    (self.labels, self.names, self.output, self.top) = (labels, names, output, top)
    self.mistakeLimit = mistakeLimit
  }

  package mutating func add(_ prediction: Prediction, of source: InputSource) throws {
    let scores = try prediction.scores(of: output).value.elements
    let numbers = self.numbers ?? ClassNumbers(names ?? labels.classNames(scores.count))
    self.numbers = numbers
    try require(
      numbers.names.count == scores.count, .mismatch,
      "\(numbers.names.count) labels for the \(scores.count) values of the output",
      hint: "give a label file with \(scores.count) lines")
    let truth = try numbers.number(of: try labels.label(of: source))
    var result =
      result ?? Classification(classes: numbers.names, top: top, mistakeLimit: mistakeLimit)
    result.add(source.name, truth: truth, scores: Array(scores))
    self.result = result
  }
}

extension Prediction {
  /// The output with a score per class.
  ///
  /// - Throws: `.mismatch` if no output, or more than one, qualifies.
  func scores(of name: String?) throws -> PredictedOutput {
    let meant = name.map { FeatureNames.output.meant(by: $0, among: outputs.map(\.name)) }
    let candidates = outputs.filter { meant == nil ? $0.isScores : $0.name == meant }
    let classes = candidates.filter { if case .classes = $0.kind { true } else { false } }
    if let output = classes.first ?? (candidates.count == 1 ? candidates[0] : nil), output.isScores
    {
      return output
    }
    let names = outputs.map(\.name)
    if let name {
      throw ModelError.unknown("output", name, " with a score per class", among: names)
    }
    throw ModelError(
      .mismatch,
      candidates.isEmpty
        ? "the model has no output with a score per class"
        : "several outputs of the model may have a score per class",
      hint:
        "its outputs are \(names.joined(separator: ", ")); choose one with \(setting: "feature") NAME"
    )
  }
}

extension PredictedOutput {
  /// Whether it is a vector of scores, one per class.
  package var isScores: Bool {
    switch kind {
    case .classes: true
    case .array: value.shape.filter { $0 != 1 }.count == 1
    case .image, .blob, .feature: false
    }
  }
}
