/// What each kind of section becomes, for `docs/darknet.md`.
package enum LayerCatalog {
  package struct Entry: Sendable {
    /// The name in brackets.
    package let name: String
    package let otherNames: [String]
    /// The Core ML layers, in order; alternatives after a semicolon.
    package let becomes: String
    /// Options that count when the network runs.
    package let options: [String]
    /// What is refused, and why.
    package let refused: String
    /// The lowest specification version that has what it becomes.
    package let version: Int
  }

  /// One for each kind, in the order of the registry.
  package static let entries: [Entry] = DarknetLayerRegistry.types.map { type in
    Entry(
      name: type.sections[0], otherNames: Array(type.sections.dropFirst()),
      becomes: type.documentation.becomes, options: type.options,
      refused: type.documentation.refused, version: type.documentation.version)
  }

  /// Sections of Darknet that cannot be converted, and why.
  package static let impossible: [(names: [String], reason: String)] = [
    (
      ["rnn", "lstm", "gru", "crnn", "conv_lstm"],
      "recurrent layers, whose state Darknet keeps from one picture to the next"
    ),
    (["history"], "it keeps earlier pictures"),
    (["iseg"], "masks of instances, which Darknet finds outside the network"),
    (["contrastive"], "a loss"),
    (["empty", "silence"], "Darknet leaves its output undefined"),
  ]

  static func reason(_ kind: String) -> String? {
    impossible.first { $0.names.contains(kind) }?.reason
  }

  /// The functions that `activation` names.
  package static var functions: [(name: String, becomes: String)] {
    ActivationFunction.known.map { ($0.name, $0.becomes) }
  }
}
