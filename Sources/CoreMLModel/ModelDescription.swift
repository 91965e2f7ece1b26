/// Interface and metadata of a model.
public struct ModelDescription: SpecificationMessage {
  /// What a prediction takes, in the model's order.
  public var input: [FeatureDescription] = []
  /// What a prediction gives, in the model's order.
  public var output: [FeatureDescription] = []
  /// Of a classifier the output with the best label, of a regressor the one with the value.
  public var predictedFeatureName = ""
  /// Of a classifier the output with each label's probability.
  public var predictedProbabilitiesName = ""
  package var trainingInput: [FeatureDescription] = []
  /// Who made the model, and what else is to be said of it.
  public var metadata: Metadata?
  package var unknownFields = UnknownFields()

  /// A model without features.
  public init() {}

  package static let fields: Fields = [
    .messages("input", \.input),
    .messages("output", \.output),
    .string("predictedFeatureName", \.predictedFeatureName),
    .string("predictedProbabilitiesName", \.predictedProbabilitiesName),
    .messages("trainingInput", \.trainingInput),
    .message("metadata", \.metadata),
  ]
}

/// A named input or output.
public struct FeatureDescription: SpecificationMessage {
  /// By which values are given and found.
  public var name = ""
  /// For people.
  public var shortDescription = ""
  /// What its values are.
  public var type: FeatureType?
  package var unknownFields = UnknownFields()

  /// A feature without a name.
  public init() {}

  package init(name: String, kind: FeatureType.Kind, isOptional: Bool = false) {
    self.name = name
    var type = FeatureType()
    type.kind = kind
    type.isOptional = isOptional
    self.type = type
  }

  package static let fields: Fields = [
    .string("name", \.name),
    .string("shortDescription", \.shortDescription),
    .message("type", \.type),
  ]
}

/// Who made the model, and what else is to be said of it.
public struct Metadata: SpecificationMessage {
  /// What the model does.
  public var shortDescription = ""
  /// The model's own version.
  public var versionString = ""
  /// Who made the model.
  public var author = ""
  /// Under which the model may be used.
  public var license = ""
  /// Written in ascending order of the keys.
  public var userDefined: [String: String] = [:]
  package var unknownFields = UnknownFields()

  /// No entries.
  public init() {}

  package static let fields: Fields = [
    .string("shortDescription", \.shortDescription),
    .string("versionString", \.versionString),
    .string("author", \.author),
    .string("license", \.license),
    Field(
      ["userDefined"],
      read: { metadata, reader in
        for entry in try reader.entries("userDefined") {
          metadata.userDefined[try entry.string("key")] = try entry.string("value")
        }
      },
      write: { metadata, writer in
        let entries = metadata.userDefined.inKeyOrder
        try writer.nestedArray("userDefined", count: entries.count) { index, entry in
          try entry.set("key", entries[index].key)
          try entry.set("value", entries[index].value)
        }
      }),
  ]
}

extension Dictionary where Key == String {
  /// In the order of the keys' bytes.
  var inKeyOrder: [Element] { sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) } }
}
