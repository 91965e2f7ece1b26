import CoreMLModel
import ImportSupport

/// The function that `activation` names.
struct ActivationFunction: Sendable {
  let name: String
  /// The formula; nil for a name that Darknet lacks.
  let formula: ActivationFormula?

  /// - Parameter standard: the default if the section does not name a function.
  init(_ section: ConfigurationSection, default standard: String) {
    self.init(section.string("activation") ?? standard)
  }

  init(_ name: String) {
    let known = Self.known.first { $0.name == name.lowercased() }
    self.name = known?.name ?? name
    formula = known?.formula
  }

  /// Darknet's functions.
  static let known = ActivationFormula.all.flatMap { formula in
    formula.names(in: .darknet).map { (name: $0, formula: formula) }
  }
}

extension DarknetWriter {
  /// Applies a section's function, as layers `NAME__activation__`.
  mutating func activate(
    _ function: ActivationFunction, _ tensor: DarknetTensor, _ call: LayerCall
  ) throws -> DarknetTensor {
    if function.name == "linear" { return tensor }
    let name = call.name + "__activation__"
    let subject = CustomLayerSubject(
      layer: name, layerClass: call.section.name, activation: function.name)
    if let blob = try applyRule(rules, subject, to: tensor.blob, tensor.placement) {
      return tensor.with(blob)
    }
    if let formula = function.formula {
      return tensor.with(
        add(formula, tensor.blob, ActivationNames(name, prefix: name, suffix: "__")))
    }
    guard rules.allowsAll else {
      throw call.unsupported(
        "Darknet has no activation '\(function.name)' and would use relu instead",
        hint:
          "set activation=relu if that is intended, or make it a custom layer: \(setting: "customLayers") "
          + "with \(subject.suggestedRule)")
    }
    return tensor.with(add(name, Custom(className: function.name), [tensor.blob]))
  }
}
