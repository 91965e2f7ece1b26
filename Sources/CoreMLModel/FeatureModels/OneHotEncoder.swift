/// A one-hot array for a category, or the same as a dictionary.
package struct OneHotEncoder: FeatureModelParameters {
  package enum Unknown: Int, Sendable, CaseIterable {
    case error = 0
    case ignore = 1
  }

  package var categories: ClassLabels?
  package var isSparse = false
  package var unknown = Unknown.error
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .labels(\.categories, string: "stringCategories", int64: "int64Categories"),
    .bool("outputSparse", \.isSparse), .value("handleUnknown", \.unknown),
  ]

  package func check(_ description: ModelDescription, _ faults: inout ValidationIssues) {
    faults.requireFeatures(description.input, "description.input", [.int64, .string], count: 1)
    faults.requireFeatures(
      description.output, "description.output", [isSparse ? .dictionary : .multiArray], count: 1)
    faults.require(categories != nil, "categoryType", "the categories are missing")
  }
}
