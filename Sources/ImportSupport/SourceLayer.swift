/// A kind of layer in a source framework, and a row of `docs/keras.md`, `docs/caffe.md` or
/// `docs/darknet.md`.
package struct SourceLayer: Sendable {
  /// Names in all versions and forks of the framework, with the usual name first.
  package fileprivate(set) var names: [String]
  /// The Core ML layers, in order; alternatives after a semicolon.
  package let becomes: String
  /// Supported options, and their effect.
  package let options: String
  /// Unsupported options and inputs.
  package let refused: String
  /// The lowest specification version that has the Core ML layers.
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
  /// One layer.
  package init(
    _ names: String..., becomes: String, options: String = "", refused: String = "",
    version: Int = 1
  ) {
    var layer = SourceLayer(becomes: becomes, options: options, refused: refused, version: version)
    layer.names = names
    self = [layer]
  }
}
