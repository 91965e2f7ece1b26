import TensorCore

/// The majority label of the nearest samples by squared Euclidean distance, weighted equally or by
/// inverse distance.
package struct KNearestNeighborsClassifier: FeatureModelParameters {
  package static let specificationVersion = 4

  package enum Weighting: Sendable, Equatable {
    case uniform
    case inverseDistance
  }

  package enum DefaultLabel: Sendable, Equatable {
    case string(String)
    case int64(Int)
  }

  package var index: NearestNeighborsIndex?
  package var neighbors: WholeNumberParameter?
  /// The label of each sample.
  package var sampleLabels: ClassLabels?
  package var defaultLabel: DefaultLabel?
  package var weighting: Weighting?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .message("nearestNeighborsIndex", \.index), .message("numberOfNeighbors", \.neighbors),
    .classLabels(\.sampleLabels),
    .choice(
      \.defaultLabel,
      [
        .plain(
          "defaultStringLabel", { .string(try $0.string("defaultStringLabel")) },
          { if case .string(let label) = $0 { label } else { nil } },
          { try $0.set("defaultStringLabel", $1) }),
        .plain(
          "defaultInt64Label", { .int64(try $0.int("defaultInt64Label")) },
          { if case .int64(let label) = $0 { label } else { nil } },
          { try $0.set("defaultInt64Label", $1) }),
      ]),
    .choice(
      \.weighting,
      [.empty("uniformWeighting", .uniform), .empty("inverseDistanceWeighting", .inverseDistance)]),
  ]

  /// The labels of the samples and the default label, without duplicates, in order of appearance.
  package var classLabels: ClassLabels? {
    var labels = sampleLabels
    switch (labels, defaultLabel) {
    case (.string(let names)?, .string(let other)): labels = .string(names + [other])
    case (.int64(let numbers)?, .int64(let other)): labels = .int64(numbers + [other])
    case (nil, .string(let other)): labels = .string([other])
    case (nil, .int64(let other)): labels = .int64([other])
    default: break
    }
    return labels?.withoutRepetition
  }

  package func check(_ description: ModelDescription, _ faults: inout ValidationIssues) {
    faults.requireFeatures(description.input, "description.input", [.multiArray], count: 1)
    faults.requireClassifier(description, classLabels)
    guard let index else {
      return faults.require(false, "nearestNeighborsIndex", "the samples are missing")
    }
    let dimensions = index.dimensions
    faults.require(
      dimensions >= 1, "nearestNeighborsIndex.numberOfDimensions", "\(dimensions) is invalid")
    faults.require(
      index.samples.allSatisfy { $0.count == dimensions }, "nearestNeighborsIndex.floatSamples",
      "a sample does not have \(dimensions) numbers")
    faults.require(
      index.samples.count == sampleLabels?.count ?? 0, "nearestNeighborsIndex.floatSamples",
      "\(index.samples.count) samples for \(sampleLabels?.count ?? 0) labels")
    faults.require(
      (neighbors?.defaultValue ?? 0) >= 1, "numberOfNeighbors",
      "\(neighbors?.defaultValue ?? 0) is invalid")
    faults.require(weighting != nil, "weightingScheme", "the weighting is missing")
    faults.require(
      index.structure != nil, "nearestNeighborsIndex.indexType", "the kind of index is missing")
    faults.require(
      index.distance != nil, "nearestNeighborsIndex.distanceFunction", "the distance is missing")
  }
}

/// Points and how they are searched; the search structure does not affect the result.
package struct NearestNeighborsIndex: SpecificationMessage {
  package enum Structure: Sendable, Equatable {
    case linear
    case tree(leafSize: Int)
  }

  package enum Distance: Sendable, Equatable { case squaredEuclidean }

  package var dimensions = 0
  package var samples: [[Float]] = []
  package var structure: Structure?
  package var distance: Distance?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .int("numberOfDimensions", \.dimensions),
    Field(
      ["floatSamples"],
      read: { index, reader in
        index.samples = try reader.nestedArray("floatSamples").map { $0.floats("vector") }
      },
      write: { index, writer in
        let samples = index.samples
        try writer.nestedArray("floatSamples", count: samples.count) {
          $1.set("vector", samples[$0])
        }
      }),
    .choice(
      \.structure,
      [
        .empty("linearIndex", .linear),
        .flat(
          "singleKdTreeIndex", read: { .tree(leafSize: try $0.int("leafSize")) },
          { if case .tree(let size) = $0 { size } else { nil } },
          write: { try $1.set("leafSize", $0) }),
      ]),
    .choice(\.distance, [.empty("squaredEuclideanDistance", .squaredEuclidean)]),
  ]
}

/// The message `Int64Parameter`.
package struct WholeNumberParameter: SpecificationMessage {
  package enum Allowed: Sendable, Equatable {
    case range(Int, Int)
    case set([Int])
  }

  package var defaultValue = 0
  package var allowed: Allowed?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .int("defaultValue", \.defaultValue),
    .choice(
      \.allowed,
      [
        .flat(
          "range", read: { .range(try $0.int("minValue"), try $0.int("maxValue")) },
          { if case .range(let low, let high) = $0 { (low, high) } else { nil } },
          write: {
            try $1.set("minValue", $0.0)
            try $1.set("maxValue", $0.1)
          }),
        .flat(
          "set", read: { .set(try $0.ints("values")) },
          { if case .set(let values) = $0 { values } else { nil } },
          write: { try $1.set("values", $0) }),
      ]),
  ]
}

extension ClassLabels {
  var withoutRepetition: ClassLabels {
    switch self {
    case .string(let labels):
      var seen: Set<String> = []
      return .string(labels.filter { seen.insert($0).inserted })
    case .int64(let labels):
      var seen: Set<Int> = []
      return .int64(labels.filter { seen.insert($0).inserted })
    }
  }
}
