extension KerasImporter {
  /// The names of all Keras layer classes that Assay supports, with aliases grouped together.
  package static var supportedClasses: [[String]] {
    KerasLayerRegistry.types.flatMap { $0.classes.map(\.names) }
  }
}
