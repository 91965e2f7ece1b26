/// Replaces missing values: those equal to a given number or string, by default NaN.
package struct Imputer: FeatureModelParameters {
  package static let allowsOptionalInputs = true

  package enum Imputed: Sendable, Equatable {
    case double(Double)
    case int64(Int)
    case string(String)
    case doubles([Double])
    case int64s([Int])
    case stringDictionary([StringEntry])
    case int64Dictionary([IntegerEntry])
  }

  package struct StringEntry: Sendable, Equatable {
    package var key: String
    package var value: Double
  }

  package struct IntegerEntry: Sendable, Equatable {
    package var key: Int
    package var value: Double
  }

  package enum Replaced: Sendable, Equatable {
    case double(Double)
    case int64(Int)
    case string(String)
  }

  package var imputed: Imputed?
  package var replaced: Replaced?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .choice(
      \.imputed,
      [
        .plain(
          "imputedDoubleValue", { .double($0.double("imputedDoubleValue")) },
          { if case .double(let value) = $0 { value } else { nil } },
          { $0.set("imputedDoubleValue", $1 as Double) }),
        .plain(
          "imputedInt64Value", { .int64(try $0.int("imputedInt64Value")) },
          { if case .int64(let value) = $0 { value } else { nil } },
          { try $0.set("imputedInt64Value", $1 as Int) }),
        .plain(
          "imputedStringValue", { .string(try $0.string("imputedStringValue")) },
          { if case .string(let value) = $0 { value } else { nil } },
          { try $0.set("imputedStringValue", $1 as String) }),
        .flat(
          "imputedDoubleArray", read: { .doubles($0.doubles("vector")) },
          { if case .doubles(let values) = $0 { values } else { nil } },
          write: { $1.set("vector", $0 as [Double]) }),
        .flat(
          "imputedInt64Array", read: { .int64s(try $0.ints("vector")) },
          { if case .int64s(let values) = $0 { values } else { nil } },
          write: { try $1.set("vector", $0 as [Int]) }),
        .map(
          "imputedStringDictionary", { .stringDictionary($0) },
          { if case .stringDictionary(let entries) = $0 { entries } else { nil } },
          read: { .init(key: try $0.string("key"), value: $0.double("value")) },
          write: {
            try $1.set("key", $0.key)
            $1.set("value", $0.value)
          }),
        .map(
          "imputedInt64Dictionary", { .int64Dictionary($0) },
          { if case .int64Dictionary(let entries) = $0 { entries } else { nil } },
          read: { .init(key: try $0.int("key"), value: $0.double("value")) },
          write: {
            try $1.set("key", $0.key)
            $1.set("value", $0.value)
          }),
      ]),
    .choice(
      \.replaced,
      [
        .plain(
          "replaceDoubleValue", { .double($0.double("replaceDoubleValue")) },
          { if case .double(let value) = $0 { value } else { nil } },
          { $0.set("replaceDoubleValue", $1 as Double) }),
        .plain(
          "replaceInt64Value", { .int64(try $0.int("replaceInt64Value")) },
          { if case .int64(let value) = $0 { value } else { nil } },
          { try $0.set("replaceInt64Value", $1 as Int) }),
        .plain(
          "replaceStringValue", { .string(try $0.string("replaceStringValue")) },
          { if case .string(let value) = $0 { value } else { nil } },
          { try $0.set("replaceStringValue", $1 as String) }),
      ]),
  ]

  package func check(_ description: ModelDescription, _ faults: inout ValidationIssues) {
    faults.requireFeatures(
      description.input, "description.input", [.int64, .double, .multiArray, .string, .dictionary],
      count: 1)
    guard let input = description.input.first?.type?.kind else { return }
    faults.requireFeatures(description.output, "description.output", [input.sort], count: 1)
    guard let imputed else { return faults.require(false, "imputedValue", "the value is missing") }
    let fits: Bool
    let replaces: Bool
    switch imputed {
    case .double:
      fits = input.sort == .double || input.sort == .multiArray
      replaces = if case .double? = replaced { true } else { false }
    case .int64:
      fits = input.sort == .int64
      replaces = if case .int64? = replaced { true } else { false }
    case .string:
      fits = input.sort == .string
      replaces = if case .string? = replaced { true } else { false }
    case .doubles(let values):
      fits = input.isVector(values.count)
      replaces = if case .double? = replaced { true } else { false }
    case .int64s(let values):
      fits = input.isVector(values.count)
      replaces = if case .int64? = replaced { true } else { false }
    case .stringDictionary, .int64Dictionary:
      fits = input.sort == .dictionary
      replaces = false
    }
    faults.require(fits, "imputedValue", "it does not fit an input of type \(input.sort.rawValue)")
    faults.require(
      replaced == nil || replaces, "replaceValue", "its type is not that of the imputed value")
  }
}

extension FeatureType.Kind {
  /// Whether it is a one-dimensional array of this length.
  func isVector(_ count: Int) -> Bool {
    guard case .multiArray(let array) = self else { return false }
    return array.shape == [count]
  }
}
