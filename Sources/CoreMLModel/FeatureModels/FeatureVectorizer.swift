/// Concatenates the numbers of several features into one array.
package struct FeatureVectorizer: FeatureModelParameters {
  package struct Column: SpecificationMessage {
    package var name = ""
    package var dimensions = 0
    package var unknownFields = UnknownFields()

    package init() {}

    package static let fields: Fields = [
      .string("inputColumn", \.name), .int("inputDimensions", \.dimensions),
    ]
  }

  package var columns: [Column] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.messages("inputList", \.columns)]

  package func renamingFeatures(_ rename: (String) -> String) -> Self {
    var renamed = self
    for index in columns.indices { renamed.columns[index].name = rename(columns[index].name) }
    return renamed
  }

  package func check(_ description: ModelDescription, _ faults: inout ValidationIssues) {
    faults.requireNumbers(description)
    faults.requireFeatures(description.output, "description.output", [.multiArray], count: 1)
    let names = Set(description.input.map(\.name))
    for (index, column) in columns.enumerated() {
      faults.require(
        column.dimensions >= 1, "inputList[\(index)].inputDimensions",
        "\(column.dimensions) is invalid")
      faults.require(
        names.contains(column.name), "inputList[\(index)].inputColumn",
        "the model has no input '\(column.name)'")
    }
  }
}
