/// The elements of an array at zero-based `indices`.
package struct ArrayFeatureExtractor: FeatureModelParameters {
  package var indices: [Int] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.ints("extractIndex", \.indices)]

  package func check(_ description: ModelDescription, _ faults: inout ValidationIssues) {
    faults.requireFeatures(description.input, "description.input", [.multiArray], count: 1)
    faults.requireFeatures(
      description.output, "description.output", [.double, .int64, .multiArray], count: 1)
    let isNumber = description.output.first?.type?.kind?.sort != .multiArray
    faults.require(
      !isNumber || indices.count == 1, "extractIndex",
      "\(indices.count) indices for an output of one number")
  }
}
