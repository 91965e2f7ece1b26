/// An input of a source network.
package struct SourceInput: Sendable, Equatable {
  package let name: String
  /// Sizes along the framework's axes, including the batch; nil for unknown sizes.
  package let shape: [Int?]

  package init(name: String, shape: [Int?]) {
    self.name = name
    self.shape = shape
  }
}

/// Runs a network directly from its source files, with the framework's semantics and layout, in
/// double precision. It shares only the file readers with the importers, so that each checks the
/// other independently.
package protocol SourceInterpreter {
  /// Receives a layer's result in the framework's layout, and the name that the converter's report
  /// and `diff --layers` use. Its return value replaces the result for later layers; nil keeps the
  /// result.
  typealias Visitor = (String, DoubleArray) throws -> DoubleArray?

  /// Receives the name of a result of an unsupported layer, named as for `Visitor`, and the reason.
  /// Its return value is used as the result; nil ends the run.
  typealias Substitute = (String, InterpretationError) throws -> DoubleArray?

  /// The inputs, in the source's order.
  var inputs: [SourceInput] { get }

  /// Runs the layers in order; values that no later layer needs are freed.
  ///
  /// - Returns: the outputs, by their names in the source.
  /// - Throws: `InterpretationError` for anything unsupported that `takeOver` does not replace;
  ///   `ModelError` for an inconsistent file.
  func run(
    _ inputs: [String: DoubleArray], visit: Visitor, takeOver: Substitute
  ) throws -> [String: DoubleArray]
}

extension SourceInterpreter {
  package func run(_ inputs: [String: DoubleArray]) throws -> [String: DoubleArray] {
    try run(inputs, visit: { _, _ in nil }, takeOver: { _, _ in nil })
  }
}
