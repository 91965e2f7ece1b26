extension KerasImporter {
  /// The names of all Keras layer classes that Assay reads; aliases are grouped.
  package static var supportedClasses: [[String]] {
    KerasLayerRegistry.types.flatMap { $0.classes.map(\.names) }
  }
}
