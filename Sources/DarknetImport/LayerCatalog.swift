import ImportSupport

/// The conversion of each kind of section, for `docs/darknet.md`.
package enum LayerCatalog {
  /// One entry per kind, in the order of the registry, with the options that affect inference.
  package static let entries: [(layer: SourceLayer, options: [String])] =
    DarknetLayerRegistry.types.map { ($0.source, $0.options) }

  /// Darknet sections that cannot be converted, with the reasons.
  package static let impossible: [(names: [String], reason: String)] = [
    (["history"], "it stores earlier images"),
    (["iseg"], "instance masks, which Darknet computes outside the network"),
    (["empty", "silence"], "Darknet leaves its output undefined"),
  ]

  static func reason(_ kind: String) -> String? {
    impossible.first { $0.names.contains(kind) }?.reason
  }

  /// The functions for `activation`.
  package static var functions: [(name: String, becomes: String)] {
    ActivationFunction.known.map { ($0.name, $0.formula.becomes) }
  }
}
