/// A row of `docs/caffe.md` or `docs/darknet.md`.
package struct DocumentationRow: Sendable {
  /// The Core ML layers, in order; alternatives after a semicolon.
  package let becomes: String
  /// Options that count, and what becomes of them.
  package let options: String
  /// What is refused, and why.
  package let refused: String
  /// The lowest specification version that has what it becomes.
  package let version: Int

  package init(
    _ becomes: String, options: String = "", refused: String = "", version: Int = 1
  ) {
    self.becomes = becomes
    self.options = options
    self.refused = refused
    self.version = version
  }
}
