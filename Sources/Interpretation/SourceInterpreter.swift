/// An input of a source network.
package struct SourceInput: Sendable, Equatable {
  package let name: String
  /// Sizes along the framework's axes, the batch included; nil for open ones.
  package let shape: [Int?]

  package init(name: String, shape: [Int?]) {
    self.name = name
    self.shape = shape
  }
}

/// Runs a network straight from its source files, by the framework's own semantics and in its layout,
/// in double precision. It shares the readers of files with the importers, and nothing else: where both
/// agree, two independent readings of the network do.
package protocol SourceInterpreter {
  /// Gets the result of a layer, under the name by which the converter's report and `diff --layers` know
  /// the layer, in the framework's layout. What it returns takes the result's place for the layers
  /// after it; nil leaves the result.
  typealias Visitor = (String, DoubleArray) throws -> DoubleArray?

  /// Gets the name of a result, as `Visitor` does, that a layer does not have because the interpreter
  /// lacks it, and why. What it returns takes the result's place; nil ends the run.
  typealias Substitute = (String, InterpretationError) throws -> DoubleArray?

  /// In the order of the source.
  var inputs: [SourceInput] { get }

  /// Runs the layers in order; values that no layer needs any more are freed.
  ///
  /// - Returns: the outputs, by the names of the source.
  /// - Throws: `InterpretationError` for what it cannot interpret and `takeOver` does not give; `ModelError` for a file that
  ///   contradicts itself.
  func run(
    _ inputs: [String: DoubleArray], visit: Visitor, takeOver: Substitute
  ) throws -> [String: DoubleArray]
}

extension SourceInterpreter {
  package func run(_ inputs: [String: DoubleArray]) throws -> [String: DoubleArray] {
    try run(inputs, visit: { _, _ in nil }, takeOver: { _, _ in nil })
  }
}
