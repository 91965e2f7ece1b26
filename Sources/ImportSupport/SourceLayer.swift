/// A type of layer in a source framework, and its row in `docs/keras.md`, `docs/caffe.md` or
/// `docs/darknet.md`.
package struct SourceLayer: Sendable {
  /// The names in all versions and forks of the framework, most common name first.
  package fileprivate(set) var names: [String]
  /// The Core ML layers, in order; alternatives after a semicolon.
  package let becomes: String
  /// Supported options and their effects.
  package let options: String
  /// Unsupported options and inputs.
  package let refused: String
  /// The lowest specification version that has these Core ML layers.
  package let version: Int

  package init(
    _ names: String..., becomes: String, options: String = "", refused: String = "",
    version: Int = 1
  ) {
    self.names = names
    self.becomes = becomes
    self.options = options
    self.refused = refused
    self.version = version
  }
}

extension [SourceLayer] {
  /// A list with one layer.
  package init(
    _ names: String..., becomes: String, options: String = "", refused: String = "",
    version: Int = 1
  ) {
    var layer = SourceLayer(becomes: becomes, options: options, refused: refused, version: version)
    layer.names = names
    self = [layer]
  }
}
