/// Maps strings to integers, or integers to strings.
package struct CategoricalMapping: FeatureModelParameters {
  package struct Pair: Sendable, Equatable {
    package var text: String
    package var number: Int
  }

  package enum Mapping: Sendable, Equatable {
    case stringToInt64([Pair])
    case int64ToString([Pair])
  }

  package enum Unknown: Sendable, Equatable {
    case string(String)
    case int64(Int)
  }

  package var mapping: Mapping?
  /// The result for other values; nil makes them an error.
  package var unknown: Unknown?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .choice(
      \.mapping,
      [
        .map(
          "stringToInt64Map", { .stringToInt64($0) },
          { if case .stringToInt64(let pairs) = $0 { pairs } else { nil } },
          read: { Pair(text: try $0.string("key"), number: try $0.int("value")) },
          write: {
            try $1.set("key", $0.text)
            try $1.set("value", $0.number)
          }),
        .map(
          "int64ToStringMap", { .int64ToString($0) },
          { if case .int64ToString(let pairs) = $0 { pairs } else { nil } },
          read: { Pair(text: try $0.string("value"), number: try $0.int("key")) },
          write: {
            try $1.set("key", $0.number)
            try $1.set("value", $0.text)
          }),
      ]),
    .choice(
      \.unknown,
      [
        .plain(
          "strValue", { .string(try $0.string("strValue")) },
          { if case .string(let value) = $0 { value } else { nil } },
          { try $0.set("strValue", $1 as String) }),
        .plain(
          "int64Value", { .int64(try $0.int("int64Value")) },
          { if case .int64(let value) = $0 { value } else { nil } },
          { try $0.set("int64Value", $1 as Int) }),
      ]),
  ]

  package func check(_ description: ModelDescription, _ faults: inout ValidationIssues) {
    let fits: Bool
    switch mapping {
    case .stringToInt64?:
      faults.requireFeatures(
        description.input, "description.input", [.string, .sequence], count: 1)
      faults.requireFeatures(
        description.output, "description.output", [.int64, .sequence], count: 1)
      fits = if case .string? = unknown { false } else { true }
    case .int64ToString?:
      faults.requireFeatures(description.input, "description.input", [.int64, .sequence], count: 1)
      faults.requireFeatures(
        description.output, "description.output", [.string, .sequence], count: 1)
      fits = if case .int64? = unknown { false } else { true }
    case nil: return faults.require(false, "mappingType", "the mapping is missing")
    }
    faults.require(fits, "valueOnUnknown", "its type is not that of the output")
  }
}
