extension KerasImporter {
  /// The names of every class of Keras layers that is read, those of one class together.
  package static var supportedClasses: [[String]] {
    KerasLayerRegistry.types.flatMap { $0.classes.map(\.names) }
  }
}
