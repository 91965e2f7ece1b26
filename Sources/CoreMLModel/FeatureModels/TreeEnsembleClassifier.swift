/// A tree ensemble classifier.
///
/// With one dimension, the value is the probability of the second of two classes.
package struct TreeEnsembleClassifier: FeatureModelParameters {
  package static let allowsOptionalInputs = true

  package var ensemble: TreeEnsemble?
  package var transform = TreeEnsemble.Transform.none
  package var classLabels: ClassLabels?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .message("treeEnsemble", \.ensemble), .value("postEvaluationTransform", \.transform),
    .classLabels(\.classLabels),
  ]

  package func check(_ description: ModelDescription, _ faults: inout ValidationIssues) {
    faults.requireNumbers(description)
    faults.requireClassifier(description, classLabels)
    let ensemble = ensemble ?? TreeEnsemble()
    ensemble.check(&faults)
    guard let count = classLabels?.count else { return }
    let needed = transform == .softmaxWithZeroClassReference ? [count - 1] : [count]
    faults.require(
      needed.contains(ensemble.dimensions) || count == 2 && ensemble.dimensions == 1,
      "treeEnsemble.numPredictionDimensions", "\(ensemble.dimensions) for \(count) classes")
  }
}
