/// A custom layer that needs no registration.
public protocol BuiltInCustomLayer: CustomLayer {
  static var notes: CustomLayerNotes { get }
}

/// What `docs/layers.md` says of a built-in custom layer.
public struct CustomLayerNotes: Sendable {
  public let formula: String
  /// Each with its name in front; a default in brackets.
  public let parameters: [String]
  public let weights: String

  public init(_ formula: String, parameters: [String] = [], weights: String = "") {
    self.formula = formula
    self.parameters = parameters
    self.weights = weights
  }
}
