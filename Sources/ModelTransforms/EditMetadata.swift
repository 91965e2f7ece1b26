import CoreMLModel
import TensorCore

/// Changes to a model's metadata; nil leaves an entry unchanged.
package struct MetadataEdit: Sendable, Equatable {
  package var author: String?
  package var license: String?
  package var shortDescription: String?
  package var versionString: String?
  /// Entries of the user-defined metadata to set.
  package var userDefined: [String: String] = [:]
  /// Keys of the user-defined metadata to remove.
  package var removedKeys: [String] = []
  /// Descriptions of features by name.
  package var inputDescriptions: [String: String] = [:]
  package var outputDescriptions: [String: String] = [:]

  package init() {}
}

extension Model {
  /// The model with other metadata; the metadata of a pipeline's models is unchanged.
  ///
  /// - Throws: `.mismatch` if a description is for an unknown feature.
  package func editingMetadata(_ edit: MetadataEdit) throws -> Model {
    if edit == MetadataEdit() { return self }
    var model = self
    var description = model.description ?? ModelDescription()
    var metadata = description.metadata ?? Metadata()
    metadata.author = edit.author ?? metadata.author
    metadata.license = edit.license ?? metadata.license
    metadata.shortDescription = edit.shortDescription ?? metadata.shortDescription
    metadata.versionString = edit.versionString ?? metadata.versionString
    for key in edit.removedKeys {
      try require(
        metadata.userDefined.removeValue(forKey: key) != nil, .mismatch,
        "the metadata has no entry '\(key)'",
        hint: "its entries are " + metadata.userDefined.keys.sorted().joined(separator: ", "))
    }
    metadata.userDefined.merge(edit.userDefined) { $1 }
    if description.metadata != nil || metadata != Metadata() { description.metadata = metadata }
    try Self.describe(&description.input, edit.inputDescriptions, "input")
    try Self.describe(&description.output, edit.outputDescriptions, "output")
    model.description = description
    return model
  }

  private static func describe(
    _ features: inout [FeatureDescription], _ texts: [String: String], _ kind: String
  ) throws {
    for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
      guard let index = features.firstIndex(where: { $0.name == name }) else {
        throw ModelError(
          .mismatch, "the model has no \(kind) '\(name)'",
          hint: "it has " + features.map { "'\($0.name)'" }.joined(separator: ", "))
      }
      features[index].shortDescription = text
    }
  }
}
