import CoreMLModel
import ImportSupport

/// The function that `activation` names.
struct ActivationFunction: Sendable {
  let name: String
  /// Nil for a name that Darknet does not have.
  let formula: ActivationFormula?

  /// - Parameter standard: the default if the section names none.
  init(_ section: ConfigurationSection, default standard: String) {
    self.init(section.string("activation") ?? standard)
  }

  init(_ name: String) {
    let known = Self.known.first { $0.name == name.lowercased() }
    self.name = known?.name ?? name
    formula = known?.formula
  }

  /// Darknet's functions, with their conversions for `docs/darknet.md`.
  static let known: [(name: String, formula: ActivationFormula, becomes: String)] = [
    ("linear", .single(.linear(alpha: 1, beta: 0)), "nothing"),
    ("relu", .single(.relu), "activation ReLU"),
    ("relu6", .relu6, "activation ReLU and an upper limit"),
    ("leaky", .single(.leakyReLU(alpha: 0.1)), "activation leakyReLU 0.1"),
    // Same as `leaky` at inference.
    ("revleaky", .single(.leakyReLU(alpha: 0.1)), "activation leakyReLU 0.1"),
    ("relie", .single(.leakyReLU(alpha: 0.01)), "activation leakyReLU 0.01"),
    // max(x, 0) + 0.1x
    ("ramp", .scaled(.leakyReLU(alpha: 1 / 11), by: 1.1), "leakyReLU 1/11 times 1.1"),
    ("logistic", .single(.sigmoid), "activation sigmoid"),
    // 2 / (1 + e⁻ˣ) − 1
    (
      "loggy", .single(.scaledTanh(alpha: 1, beta: 0.5)), "activation scaledTanh: tanh(x / 2)"
    ),
    ("tanh", .single(.tanh), "activation tanh"),
    ("elu", .single(.elu(alpha: 1)), "activation ELU 1"),
    ("selu", .scaled(.elu(alpha: 1.6732), by: 1.0507), "ELU 1.6732 times 1.0507"),
    ("gelu", .geluTanh, "cube, sum, tanh and a product"),
    ("swish", .swish(beta: 1), "sigmoid and a product"),
    ("mish", .mish, "softplus, tanh, a product"),
    ("hard_mish", .hardMish, "sigmoidHard, its square, ReLU and a sum"),
    ("hardtan", .hardTanh(unit: "clip"), "sigmoidHard, linear layers and a sum"),
    ("lhtan", .leakyHardTanh, "sigmoidHard, linear layers and a sum"),
    ("plse", .piecewiseLogistic, "sigmoidHard, linear layers and a sum"),
    (
      "stair", .stair,
      "floor, ReLU and sums; specification 4 with exact shapes"
    ),
    ("normalize_channels", .channelShare, "a sum over the channels and a quotient"),
    (
      "normalize_channels_softmax", .exponentialShare(lessMaximum: false),
      "a sum over the channels and a quotient"
    ),
    (
      "normalize_channels_softmax_maxval", .exponentialShare(lessMaximum: true),
      "a sum over the channels and a quotient"
    ),
  ]
}

extension DarknetNetwork {
  /// Applies a section's function, as layers `NAME__activation__`.
  mutating func activate(
    _ function: ActivationFunction, _ tensor: DarknetTensor, _ call: SectionCall
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
