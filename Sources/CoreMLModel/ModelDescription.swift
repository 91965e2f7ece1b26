/// Interface and metadata of a model.
public struct ModelDescription: SpecificationMessage {
  /// The inputs of a prediction, in the model's order.
  public var input: [FeatureDescription] = []
  /// The outputs of a prediction, in the model's order.
  public var output: [FeatureDescription] = []
  /// The state that a program keeps between predictions.
  package var state: [FeatureDescription] = []
  /// The output with a classifier's best label or a regressor's value.
  public var predictedFeatureName = ""
  /// The output with a classifier's probability for each label.
  public var predictedProbabilitiesName = ""
  /// The interfaces of a program's functions; empty for a program with a single function.
  package var functions: [FunctionDescription] = []
  /// The function that a program with several functions runs by default.
  package var defaultFunctionName = ""
  package var trainingInput: [FeatureDescription] = []
  /// Author, license and other facts about the model.
  public var metadata: Metadata?
  package var unknownFields = UnknownFields()

  /// Creates a description without features.
  public init() {}

  package static let fields: Fields = [
    .messages("input", \.input),
    .messages("output", \.output),
    .messages("state", \.state),
    .string("predictedFeatureName", \.predictedFeatureName),
    .string("predictedProbabilitiesName", \.predictedProbabilitiesName),
    .messages("functions", \.functions),
    .string("defaultFunctionName", \.defaultFunctionName),
    .messages("trainingInput", \.trainingInput),
    .message("metadata", \.metadata),
  ]
}

extension ModelDescription {
  /// Whether an input is flexible, so that the sizes of outputs may only hold for its default.
  package var hasFlexibleInput: Bool { input.contains { $0.type?.isFlexible == true } }
}

/// The interface of one function of a program.
package struct FunctionDescription: SpecificationMessage {
  package var name = ""
  package var input: [FeatureDescription] = []
  package var output: [FeatureDescription] = []
  package var predictedFeatureName = ""
  package var predictedProbabilitiesName = ""
  package var state: [FeatureDescription] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .string("name", \.name),
    .messages("input", \.input),
    .messages("output", \.output),
    .string("predictedFeatureName", \.predictedFeatureName),
    .string("predictedProbabilitiesName", \.predictedProbabilitiesName),
    .messages("state", \.state),
  ]
}

/// A named input or output.
public struct FeatureDescription: SpecificationMessage {
  /// The name by which values are set and read.
  public var name = ""
  /// A description for people.
  public var shortDescription = ""
  /// The type of its values.
  public var type: FeatureType?
  package var unknownFields = UnknownFields()

  /// Creates a feature without a name.
  public init() {}

  package init(name: String, kind: FeatureType.Kind, isOptional: Bool = false) {
    self.name = name
    type = FeatureType().with(\.kind, kind).with(\.isOptional, isOptional)
  }

  package static let fields: Fields = [
    .string("name", \.name),
    .string("shortDescription", \.shortDescription),
    .message("type", \.type),
  ]
}

/// Author, license and other facts about a model.
public struct Metadata: SpecificationMessage {
  /// What the model does.
  public var shortDescription = ""
  /// The version of the model, set by its author.
  public var versionString = ""
  /// The author of the model.
  public var author = ""
  /// The license of the model.
  public var license = ""
  /// Entries in any format. Written in ascending order of the keys.
  public var userDefined: [String: String] = [:]
  package var unknownFields = UnknownFields()

  /// Creates empty metadata.
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
  /// The entries, sorted by the bytes of the keys.
  var inKeyOrder: [Element] { sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) } }
}
