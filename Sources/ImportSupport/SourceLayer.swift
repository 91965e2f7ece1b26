/// A kind of layer of a source framework, which is a row of `docs/keras.md`, `docs/caffe.md` or
/// `docs/darknet.md`.
package struct SourceLayer: Sendable {
  /// Names in all versions and forks of the framework, the usual one first.
  package let names: [String]
  /// The Core ML layers, in order; alternatives after a semicolon.
  package let becomes: String
  /// Options that count, and what becomes of them.
  package let options: String
  /// What is refused, and why.
  package let refused: String
  /// The lowest specification version that has what it becomes.
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
