/// `scale · (x + shift)`, with one number for all elements or one for each.
package struct Scaler: FeatureModelParameters {
  package var shift: [Double] = []
  package var scale: [Double] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .doubles("shiftValue", \.shift), .doubles("scaleValue", \.scale),
  ]

  package func check(_ description: ModelDescription, _ faults: inout ValidationIssues) {
    let sorts: Set<FeatureType.Kind.Sort> = [.int64, .double, .multiArray]
    faults.requireFeatures(description.input, "description.input", sorts, count: 1)
    faults.requireFeatures(description.output, "description.output", sorts, count: 1)
    guard let input = description.input.first?.type?.kind,
      let output = description.output.first?.type?.kind
    else { return }
    faults.require(
      input.sort == output.sort || input.sort == .int64 && output.sort == .double,
      "description.output", "its type is not that of the input")
    for (name, values) in [("shiftValue", shift), ("scaleValue", scale)] {
      faults.require(
        values.count <= 1 || input.isVector(values.count), name,
        "\(values.count) numbers do not fit the input")
    }
  }
}
