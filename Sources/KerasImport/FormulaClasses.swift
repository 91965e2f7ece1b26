import ByteFormats
import ImportSupport

/// Classes of layers that many models define for themselves, always alike. Their code is not in the
/// file; they are recognised by their name together with the settings and weights that they have.
enum FormulaClasses {
  private static let rules: [(classes: [String], fields: [String], rule: String)] = [
    (
      ["Swish", "SwishBeta"], ["beta"],
      #"{"expression": "x * sigmoid(beta * x)", "parameters": {"beta": "$config.beta"}, "#
    ),
    (["Swish"], [], #"{"expression": "x * sigmoid(x)", "#),
    (
      ["LearnableSwish"], [],
      #"{"expression": "x * sigmoid(beta * x)", "weights": ["beta"], "#
    ),
  ]

  /// The rule for a layer that is recognised.
  static func rule(
    for subject: CustomLayerSubject, _ layer: ModelDefinition.Layer
  ) throws -> CustomLayerRule? {
    let fields = layer.fields.names.filter { !CustomConversion.bookkeeping.contains($0) }
    for entry in rules
    where entry.classes.contains(subject.layerClass) && entry.fields.sorted() == fields.sorted() {
      let text = "[" + entry.rule + #""class": "\#(subject.layerClass)"}]"#
      return try CustomLayerRules(JSONValue(parsing: Array(text.utf8)), folder: ".").rules.first
    }
    return nil
  }
}
