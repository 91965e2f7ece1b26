/// Returns the inputs unchanged.
package struct Identity: FeatureModelParameters {
  package static let allowsOptionalInputs = true

  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = []

  package func check(_ description: ModelDescription, _ faults: inout ValidationIssues) {}
}
