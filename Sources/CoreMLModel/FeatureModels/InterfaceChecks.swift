extension FeatureType.Kind {
  /// The kind of value, without its parameters.
  enum Sort: String { case int64, double, string, image, multiArray, dictionary, state, sequence }

  var sort: Sort {
    switch self {
    case .int64: .int64
    case .double: .double
    case .string: .string
    case .image: .image
    case .multiArray: .multiArray
    case .dictionary: .dictionary
    case .state: .state
    case .opaque: .sequence
    }
  }
}

extension ValidationIssues {
  /// Requires every feature to be of one of the sorts, and their number to be `count` if given.
  mutating func requireFeatures(
    _ features: [FeatureDescription], _ location: String, _ sorts: Set<FeatureType.Kind.Sort>,
    count: Int? = nil
  ) {
    require(
      count == nil || features.count == count, location,
      "\(features.count) features; \(count ?? 0) \(count == 1 ? "is" : "are") needed")
    for feature in features {
      guard let sort = feature.type?.kind?.sort else { continue }
      require(
        sorts.contains(sort), "\(location).\(feature.name)",
        "a feature of type \(sort.rawValue) is not possible here",
        hint: "possible are \(sorts.map(\.rawValue).sorted().joined(separator: ", "))")
    }
  }

  /// Requires inputs that can be converted to one array of numbers.
  mutating func requireNumbers(_ description: ModelDescription) {
    requireFeatures(
      description.input, "description.input", [.int64, .double, .multiArray, .dictionary])
  }

  mutating func requireRegressor(_ description: ModelDescription) {
    let name = description.predictedFeatureName
    let sort = description.output.first { $0.name == name }?.type?.kind?.sort
    require(
      sort == .double || sort == .multiArray, "description.predictedFeatureName",
      name.isEmpty ? "a regressor needs one" : "'\(name)' is not a numeric output")
  }

  mutating func requireClassifier(_ description: ModelDescription, _ labels: ClassLabels?) {
    guard let labels else { return require(false, "classLabels", "a classifier needs labels") }
    let isString = if case .string = labels { true } else { false }
    let name = description.predictedFeatureName
    let kind = description.output.first { $0.name == name }?.type?.kind
    require(
      kind == (isString ? .string : .int64), "description.predictedFeatureName",
      "'\(name)' is not an output of the labels' type (\(isString ? "string" : "int64"))")
    let probabilities = description.predictedProbabilitiesName
    if probabilities.isEmpty { return }
    let found = description.output.first { $0.name == probabilities }?.type?.kind
    require(
      found == .dictionary(isString ? .string : .int64), "description.predictedProbabilitiesName",
      "'\(probabilities)' is not an output of the dictionary type with the labels' type of keys")
  }

  /// Requires all rows to be as long as the first.
  mutating func requireEqualRows(_ rows: [[Double]], _ field: String) {
    require(rows.allSatisfy { $0.count == rows[0].count }, field, "the rows have different lengths")
  }
}
