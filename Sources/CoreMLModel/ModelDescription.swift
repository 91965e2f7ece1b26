/// Interface and metadata of a model.
public struct ModelDescription: EncodedMessage {
  public var input: [FeatureDescription] = []
  public var output: [FeatureDescription] = []
  public var predictedFeatureName = ""
  public var predictedProbabilitiesName = ""
  public var trainingInput: [FeatureDescription] = []
  public var metadata: Metadata?
  package var unknownFields = UnknownFields()

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
public struct FeatureDescription: EncodedMessage {
  public var name = ""
  public var shortDescription = ""
  public var type: FeatureType?
  package var unknownFields = UnknownFields()

  public init() {}

  public init(name: String, kind: FeatureType.Kind, isOptional: Bool = false) {
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

public struct Metadata: EncodedMessage {
  public var shortDescription = ""
  public var versionString = ""
  public var author = ""
  public var license = ""
  /// Written in ascending order of the keys.
  public var userDefined: [String: String] = [:]
  package var unknownFields = UnknownFields()

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
