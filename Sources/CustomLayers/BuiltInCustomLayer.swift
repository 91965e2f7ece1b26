/// A custom layer that needs no registration.
package protocol BuiltInCustomLayer: CustomLayer { static var notes: CustomLayerNotes { get } }

/// What `docs/layers.md` says of a built-in custom layer.
package struct CustomLayerNotes: Sendable {
  package let formula: String
  /// Each with its name in front; a default in brackets.
  package let parameters: [String]
  package let weights: String
  /// The same as an expression of the source framework's arrays; empty if it has settings.
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
