/// A custom layer that needs no registration.
package protocol BuiltInCustomLayer: CustomLayer { static var notes: CustomLayerNotes { get } }

/// The documentation of a built-in custom layer in `docs/layers.md`.
package struct CustomLayerNotes: Sendable {
  package let formula: String
  /// Each starts with its name; a default is in parentheses.
  package let parameters: [String]
  package let weights: String
  /// The formula as an expression in the source framework's arrays; empty if it has settings.
  package let expression: String

  package init(
    _ formula: String, expression: String = "", parameters: [String] = [], weights: String = ""
  ) {
    self.formula = formula
    self.expression = expression
    self.parameters = parameters
    self.weights = weights
  }
}
