import ByteFormats
import ImportSupport

/// Layer classes that many models define in the same way. A file does not contain their code; they
/// are recognized by name, settings and weights.
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
    (["Mish"], [], #"{"expression": "mish(x)", "#),
    // keras-unet-collection, keras-vision-transformer
    (
      ["GELU"], [],
      #"{"expression": "0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))", "#
    ),
    (
      ["Snake"], ["beta"],
      #"{"expression": "x + square(sin(beta * x)) / beta", "parameters": {"beta": "$config.beta"}, "#
    ),
    (
      ["Snake"], ["beta"],
      #"{"expression": "x + square(sin(beta_factor * x)) / beta_factor", "weights": ["beta_factor"], "#
    ),
    // keras-contrib
    (
      ["SineReLU"], ["epsilon"],
      #"{"expression": "max(x, epsilon * (sin(x) - cos(x)))", "#
        + #""parameters": {"epsilon": "$config.epsilon"}, "#
    ),
    (
      ["PELU"],
      [
        "alpha_initializer", "alpha_regularizer", "alpha_constraint", "beta_initializer",
        "beta_regularizer", "beta_constraint", "shared_axes",
      ],
      #"{"expression": "relu(x) * alpha / beta + alpha * (exp(min(x, 0) / beta) - 1)", "#
        + #""weights": ["alpha", "beta"], "#
    ),
  ]

  /// The rule for a recognized layer.
  /// - Parameter weightCount: nil if it is not known yet.
  static func rule(
    for subject: CustomLayerSubject, _ layer: ModelDefinition.Layer, weightCount: Int? = nil
  ) throws -> CustomLayerRule? {
    let fields = layer.fields.names.filter { !CustomConversion.bookkeeping.contains($0) }
    for entry in rules
    where entry.classes.contains(subject.layerClass) && entry.fields.sorted() == fields.sorted() {
      let text = "[" + entry.rule + #""class": "\#(subject.layerClass)"}]"#
      let rule = try CustomLayerRules(JSONValue(parsing: Array(text.utf8)), folder: ".").rules.first
      if weightCount == nil || weightCount == rule?.weightNames.count { return rule }
    }
    return nil
  }
}
