/// Keeps the box with the highest confidence among overlapping ones.
package struct NonMaximumSuppressionModel: FeatureModelParameters {
  package static let typeName = "nonMaximumSuppression"
  package static let specificationVersion = 3

  package enum Method: Sendable, Equatable { case pickTop(perClass: Bool) }

  package var method: Method?
  /// The labels of the confidence columns.
  package var labels: ClassLabels?
  package var overlap = 0.0
  package var confidence = 0.0
  package var confidenceInput = ""
  package var coordinatesInput = ""
  package var overlapInput = ""
  package var confidenceThresholdInput = ""
  package var confidenceOutput = ""
  package var coordinatesOutput = ""
  package var unknownFields = UnknownFields()

  package init() {}

  /// The inputs and outputs with boxes and their scores.
  var boxFeatures: [String] {
    [confidenceInput, coordinatesInput, confidenceOutput, coordinatesOutput]
  }

  package static let fields: Fields = [
    .choice(
      \.method,
      [
        .flat(
          "pickTop", read: { .pickTop(perClass: try $0.int("perClass") != 0) },
          { if case .pickTop(let perClass) = $0 { perClass } else { nil } },
          write: { try $1.set("perClass", $0 ? 1 : 0) })
      ]),
    .classLabels(\.labels), .double("iouThreshold", \.overlap),
    .double("confidenceThreshold", \.confidence),
    .string("confidenceInputFeatureName", \.confidenceInput),
    .string("coordinatesInputFeatureName", \.coordinatesInput),
    .string("iouThresholdInputFeatureName", \.overlapInput),
    .string("confidenceThresholdInputFeatureName", \.confidenceThresholdInput),
    .string("confidenceOutputFeatureName", \.confidenceOutput),
    .string("coordinatesOutputFeatureName", \.coordinatesOutput),
  ]

  package func renamingFeatures(_ rename: (String) -> String) -> Self {
    var renamed = self
    for path in [
      \Self.confidenceInput, \.coordinatesInput, \.overlapInput, \.confidenceThresholdInput,
      \.confidenceOutput, \.coordinatesOutput,
    ] {
      renamed[keyPath: path] = rename(self[keyPath: path])
    }
    return renamed
  }

  package func check(_ description: ModelDescription, _ faults: inout ValidationIssues) {
    func require(
      _ name: String, _ field: String, among features: [FeatureDescription],
      _ sort: FeatureType.Kind.Sort
    ) {
      let kind = features.first { $0.name == name }?.type?.kind
      faults.require(
        kind?.sort == sort, field,
        "the model has no \(sort == .double ? "input" : "feature") '\(name)' of type \(sort.rawValue)"
      )
    }
    require(
      confidenceInput, "confidenceInputFeatureName", among: description.input, .multiArray)
    require(
      coordinatesInput, "coordinatesInputFeatureName", among: description.input, .multiArray)
    require(
      confidenceOutput, "confidenceOutputFeatureName", among: description.output, .multiArray)
    require(
      coordinatesOutput, "coordinatesOutputFeatureName", among: description.output, .multiArray)
    for (name, field) in [
      (overlapInput, "iouThresholdInputFeatureName"),
      (confidenceThresholdInput, "confidenceThresholdInputFeatureName"),
    ] where description.input.contains(where: { $0.name == name }) {
      require(name, field, among: description.input, .double)
    }
    faults.require(
      (0...1).contains(overlap), "iouThreshold", "\(overlap) is invalid; it is from 0 to 1")
    faults.require(confidence >= 0, "confidenceThreshold", "\(confidence) is negative")
  }
}
