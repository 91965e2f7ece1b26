/// A linear regressor: `transform(weights · x + offset)`.
package struct GLMRegressor: FeatureModelParameters {
  package static let typeName = "glmRegressor"

  package enum Transform: Int, Sendable, CaseIterable {
    case none = 0
    case logit = 1
    case probit = 2
  }

  package var weights: [[Double]] = []
  package var offset: [Double] = []
  package var transform = Transform.none
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .rows("weights", of: "value", \.weights), .doubles("offset", \.offset),
    .value("postEvaluationTransform", \.transform),
  ]

  package func check(_ description: ModelDescription, _ faults: inout ValidationIssues) {
    faults.requireNumbers(description)
    faults.requireRegressor(description)
    faults.requireFeatures(description.output, "description.output", [.double, .multiArray])
    faults.require(
      weights.count == offset.count, "offset", "\(offset.count) numbers for \(weights.count) rows")
    faults.require(!weights.isEmpty, "weights", "there are none")
    if !weights.isEmpty { faults.requireEqualRows(weights, "weights") }
  }
}

extension Field {
  /// A repeated message whose only field is the repeated number `inner`.
  static func rows(
    _ name: String, of inner: String, _ path: WritableKeyPath<Message, [[Double]]>
  ) -> Self {
    Self(
      [name], read: { $0[keyPath: path] = try $1.rows(name, of: inner) },
      write: { try $1.set(name, rows: $0[keyPath: path], of: inner) })
  }
}
