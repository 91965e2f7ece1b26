import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore

/// What `activation` names.
enum ActivationFunction: Sendable, Equatable {
  case formula(ActivationFormula)
  /// A name that Darknet does not know.
  case unknown(String)

  /// - Parameter standard: what counts where the section has none.
  init(_ section: ConfigurationSection, default standard: ActivationFormula) {
    guard let name = section.string("activation") else {
      self = .formula(standard)
      return
    }
    self = ActivationFormula(rawValue: name.lowercased()).map { .formula($0) } ?? .unknown(name)
  }
}

/// Darknet's functions.
enum ActivationFormula: String, Sendable, CaseIterable {
  case linear
  /// max(x, 0)
  case relu
  /// min(max(x, 0), 6)
  case relu6
  /// x > 0 ? x : 0.1x
  case leaky
  /// As `leaky` when a network is run.
  case revleaky
  /// x > 0 ? x : 0.01x
  case relie
  /// max(x, 0) + 0.1x
  case ramp
  /// 1 / (1 + e⁻ˣ)
  case logistic
  /// 2 / (1 + e⁻ˣ) − 1
  case loggy
  case tanh
  /// x ≥ 0 ? x : eˣ − 1
  case elu
  /// 1.0507 · (x ≥ 0 ? x : 1.6732 · (eˣ − 1))
  case selu
  /// x / 2 · (1 + tanh(0.797885x + 0.035677x³))
  case gelu
  /// x / (1 + e⁻ˣ)
  case swish
  /// x · tanh(log(1 + eˣ))
  case mish
  /// x > 0 ? x : x > −2 ? x² / 2 + x : 0
  case hardMish = "hard_mish"
  /// min(max(x, −1), 1)
  case hardtan
  /// x < 0 ? 0.001x : x > 1 ? 0.001(x − 1) + 1 : x
  case lhtan
  /// x < −4 ? 0.01(x + 4) : x > 4 ? 0.01(x − 4) + 1 : 0.125x + 0.5
  case plse
  /// n = ⌊x⌋; n even ? ⌊x / 2⌋ : x − n + ⌊x / 2⌋
  case stair
  /// max(x, 0) / (Σ max(x, 0) + 10⁻⁴), the sum over the channels
  case normalizeChannels = "normalize_channels"
  /// eˣ / (Σ eˣ + 10⁻⁴)
  case normalizeChannelsSoftmax = "normalize_channels_softmax"
  /// exp(x − max x) / (Σ exp(x − max x) + 10⁻⁴)
  case normalizeChannelsSoftmaxMaximum = "normalize_channels_softmax_maxval"

  /// For `docs/darknet.md`.
  var becomes: String {
    switch self {
    case .linear: "nothing"
    case .relu: "activation ReLU"
    case .relu6: "activation ReLU and an upper limit"
    case .leaky, .revleaky: "activation leakyReLU 0.1"
    case .relie: "activation leakyReLU 0.01"
    case .ramp: "leakyReLU 1/11 times 1.1"
    case .logistic: "activation sigmoid"
    case .loggy: "activation scaledTanh: tanh(x / 2)"
    case .tanh: "activation tanh"
    case .elu: "activation ELU 1"
    case .selu: "ELU 1.6732 times 1.0507"
    case .gelu: "cube, sum, tanh, a product"
    case .swish: "sigmoid and a product"
    case .mish: "softplus, tanh, a product"
    case .hardMish: "sigmoidHard, its square, ReLU and a sum"
    case .hardtan, .lhtan, .plse: "sigmoidHard, linear layers and a sum"
    case .stair: "floor, ReLU and sums; specification 4, which gives the network exact shapes"
    case .normalizeChannels, .normalizeChannelsSoftmax, .normalizeChannelsSoftmaxMaximum:
      "a sum over the channels and a quotient"
    }
  }
}

extension DarknetNetwork {
  /// The function of a section's result, as layers `NAME__activation__`.
  mutating func activate(
    _ function: ActivationFunction, _ tensor: DarknetTensor, _ call: LayerCall
  ) throws -> DarknetTensor {
    if function == .formula(.linear) { return tensor }
    let name = call.name + "__activation__"
    let text =
      switch function {
      case .formula(let formula): formula.rawValue
      case .unknown(let text): text
      }
    let subject = CustomLayerSubject(
      layer: name, layerClass: call.section.name, activation: text)
    if let rule = rules.rule(for: subject) {
      let builder = CustomLayerBuilder(configuration: JSONObject(), weights: [])
      if let formula = try builder.formula(rule, inputCount: 1) {
        let made = try add(formula, name: name, [(tensor.blob, tensor.placement)])
        guard made.placement == tensor.placement else {
          throw call.unsupported("an activation that changes the shape")
        }
        return tensor.with(made.blob)
      }
      return tensor.with(add(name, try builder.layer(rule), [tensor.blob]))
    }
    switch function {
    case .formula(let formula): return tensor.with(apply(formula, tensor.blob, name))
    case .unknown(let text) where rules.allowsAll:
      var custom = Custom()
      custom.className = text
      return tensor.with(add(name, custom, [tensor.blob]))
    case .unknown(let text):
      throw call.unsupported(
        "activation '\(text)' is none of Darknet's, which would take relu for it",
        hint: "activation=relu if that is meant; a rule makes it a custom layer: --custom-layers "
          + "with \(subject.suggestedRule)")
    }
  }

  private mutating func apply(_ formula: ActivationFormula, _ x: String, _ name: String) -> String {
    func part(_ text: String) -> String { "\(name)\(text)__" }
    switch formula {
    case .linear: return x
    case .relu: return add(name, Activation(.relu), [x])
    case .relu6:
      let relu = add(part("relu"), Activation(.relu), [x])
      // min(x, 6) = −max(−x, −6)
      let negated = affine(relu, -1, 0, part("neg"))
      let limited = unary(.threshold, negated, part("clip"), alpha: -6)
      return affine(limited, -1, 0, name)
    case .leaky, .revleaky: return add(name, Activation(.leakyReLU(alpha: 0.1)), [x])
    case .relie: return add(name, Activation(.leakyReLU(alpha: 0.01)), [x])
    case .ramp:
      return affine(
        add(part("leaky"), Activation(.leakyReLU(alpha: 1 / 11)), [x]), 1.1, 0, name)
    case .logistic: return add(name, Activation(.sigmoid), [x])
    case .loggy: return add(name, Activation(.scaledTanh(alpha: 1, beta: 0.5)), [x])
    case .tanh: return add(name, Activation(.tanh), [x])
    case .elu: return add(name, Activation(.elu(alpha: 1)), [x])
    case .selu:
      return affine(add(part("elu"), Activation(.elu(alpha: 1.6732)), [x]), 1.0507, 0, name)
    case .gelu:
      let cube = unary(.power, x, part("cube"), alpha: 3)
      let sum = self.sum(
        [affine(x, 0.797885, 0, part("first")), affine(cube, 0.035677, 0, part("third"))],
        part("sum"))
      let gate = affine(add(part("tanh"), Activation(.tanh), [sum]), 0.5, 0.5, part("gate"))
      return product(x, gate, name)
    case .swish: return product(x, add(part("sigmoid"), Activation(.sigmoid), [x]), name)
    case .mish:
      let softplus = add(part("softplus"), Activation(.softplus), [x])
      return product(x, add(part("tanh"), Activation(.tanh), [softplus]), name)
    case .hardMish:
      // s = min(max(−x / 2, 0), 1), then max(x, 0) + 2s² − 2s
      let s = add(part("clip"), Activation(.sigmoidHard(alpha: -0.5, beta: 0)), [x])
      let relu = add(part("relu"), Activation(.relu), [x])
      let square = product(s, affine(s, 2, -2, part("line")), part("square"))
      return sum([relu, square], name)
    case .hardtan:
      let clip = add(part("clip"), Activation(.sigmoidHard(alpha: 0.5, beta: 0.5)), [x])
      return affine(clip, 2, -1, name)
    case .lhtan:
      let clip = add(part("clip"), Activation(.sigmoidHard(alpha: 1, beta: 0)), [x])
      return sum(
        [affine(clip, 0.999, 0, part("inner")), affine(x, 0.001, 0, part("outer"))], name)
    case .plse:
      // c = min(max(x / 8 + ½, 0), 1), then c + 0.01(x − (8c − 4))
      let clip = add(part("clip"), Activation(.sigmoidHard(alpha: 0.125, beta: 0.5)), [x])
      return sum(
        [affine(clip, 0.92, 0.04, part("inner")), affine(x, 0.01, 0, part("outer"))], name)
    case .stair:
      // f = ⌊x / 2⌋, then f + max(x − 2f − 1, 0)
      let half = add(part("floor"), Floor(), [affine(x, 0.5, 0, part("half"))])
      let rest = sum([x, affine(half, -2, -1, part("even"))], part("rest"))
      return sum([half, add(part("rise"), Activation(.relu), [rest])], name)
    case .normalizeChannels:
      return share(add(part("relu"), Activation(.relu), [x]), name)
    case .normalizeChannelsSoftmax:
      return share(unary(.exp, x, part("exp")), name)
    case .normalizeChannelsSoftmaxMaximum:
      let most = affine(reduced(.max, .c, x, part("max")), -1, 0, part("neg"))
      return share(unary(.exp, sum([x, most], part("below")), part("exp")), name)
    }
  }

  /// x / (Σ x + 10⁻⁴), the sum over the channels
  private mutating func share(_ x: String, _ name: String) -> String {
    let sum = affine(reduced(.sum, .c, x, name + "sum__"), 1, 1e-4, name + "shift__")
    return product(x, unary(.power, sum, name + "inverse__", alpha: -1), name)
  }
}
