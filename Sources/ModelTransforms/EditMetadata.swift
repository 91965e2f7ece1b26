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
  package var descriptions: [String: String] = [:]

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
    let names = (description.input + description.output).map(\.name)
    for (name, text) in edit.descriptions.sorted(by: { $0.key < $1.key }) {
      try require(
        names.contains(name), .mismatch, "the model has no input or output '\(name)'",
        hint: "it has " + names.map { "'\($0)'" }.joined(separator: ", "))
      func describe(_ features: inout [FeatureDescription]) {
        for index in features.indices where features[index].name == name {
          features[index].shortDescription = text
        }
      }
      describe(&description.input)
      describe(&description.output)
    }
    model.description = description
    return model
  }
}
