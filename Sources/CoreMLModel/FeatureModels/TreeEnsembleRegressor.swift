/// A tree ensemble regressor.
package struct TreeEnsembleRegressor: FeatureModelParameters {
  package static let allowsOptionalInputs = true

  package var ensemble: TreeEnsemble?
  package var transform = TreeEnsemble.Transform.none
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .message("treeEnsemble", \.ensemble), .value("postEvaluationTransform", \.transform),
  ]

  package func check(_ description: ModelDescription, _ faults: inout ValidationIssues) {
    faults.requireNumbers(description)
    faults.requireRegressor(description)
    (ensemble ?? TreeEnsemble()).check(&faults)
  }
}
