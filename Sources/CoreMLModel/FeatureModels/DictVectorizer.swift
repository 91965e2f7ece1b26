/// An array of a dictionary's values, each at the index of its key.
package struct DictVectorizer: FeatureModelParameters {
  package var keys: ClassLabels?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .labels(\.keys, string: "stringToIndex", int64: "int64ToIndex")
  ]

  package func check(_ description: ModelDescription, _ faults: inout ValidationIssues) {
    faults.requireFeatures(description.input, "description.input", [.dictionary], count: 1)
    faults.requireFeatures(
      description.output, "description.output", [.multiArray, .dictionary], count: 1)
    faults.require(keys != nil, "map", "the keys are missing")
  }
}
