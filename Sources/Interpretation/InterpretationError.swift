/// The error for an unsupported layer or option: the layers after it are not computed.
///
/// Prints as `FILE: layer 'NAME' (CLASS): MESSAGE`.
package struct InterpretationError: Error, Sendable, Equatable, CustomStringConvertible {
  package var file: String
  package var layer: String
  package var layerClass: String
  /// A description of what is not supported.
  package var message: String

  package init(file: String, layer: String, layerClass: String, _ message: String) {
    self.file = file
    self.layer = layer
    self.layerClass = layerClass
    self.message = message
  }

  package var description: String { "\(file): layer '\(layer)' (\(layerClass)): \(message)" }
}

extension InterpretationError {
  /// The substitutes for the layer's results, `NAME`, `NAME:1`, …, as far as they exist.
  ///
  /// - Throws: this error if there is none.
  package func values(
    _ name: String, _ takeOver: SourceInterpreter.Substitute
  ) throws -> [DoubleArray] {
    guard let first = try takeOver(name, self) else { throw self }
    var values = [first]
    while let next = try takeOver("\(name):\(values.count)", self) { values.append(next) }
    return values
  }
}
