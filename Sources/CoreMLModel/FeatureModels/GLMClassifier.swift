/// A linear classifier.
///
/// With two classes, one row of weights gives the probability of the second. With more, there is
/// one row per class, with probabilities scaled to the sum 1 (`oneVsRest`), or one per class except
/// the first, whose margin is 0, followed by a softmax (`referenceClass`).
package struct GLMClassifier: FeatureModelParameters {
  package static let typeName = "glmClassifier"

  package enum Transform: Int, Sendable, CaseIterable {
    case logit = 0
    case probit = 1
  }

  package enum Encoding: Int, Sendable, CaseIterable {
    case referenceClass = 0
    case oneVsRest = 1
  }

  package var weights: [[Double]] = []
  package var offset: [Double] = []
  package var transform = Transform.logit
  package var encoding = Encoding.referenceClass
  package var classLabels: ClassLabels?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .rows("weights", of: "value", \.weights), .doubles("offset", \.offset),
    .value("postEvaluationTransform", \.transform), .value("classEncoding", \.encoding),
    .classLabels(\.classLabels),
  ]

  package func check(_ description: ModelDescription, _ faults: inout ValidationIssues) {
    faults.requireNumbers(description)
    faults.requireClassifier(description, classLabels)
    faults.require(
      weights.count == offset.count, "offset", "\(offset.count) numbers for \(weights.count) rows")
    faults.require(weights.first?.isEmpty == false, "weights", "a classifier needs weights")
    if !weights.isEmpty { faults.requireEqualRows(weights, "weights") }
    guard let count = classLabels?.count else { return }
    let needed = encoding == .oneVsRest && count > 2 ? count : max(1, count - 1)
    faults.require(
      weights.count == needed, "weights",
      "\(weights.count) rows for \(count) classes; \(needed) are needed")
    faults.require(
      transform == .logit || count == 2, "postEvaluationTransform",
      "probit is possible for two classes only")
  }
}
