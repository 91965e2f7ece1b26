import CoreMLModel

/// Frameworks' activation functions, as Core ML layers.
package enum ActivationFormula: Sendable, Equatable {
  case single(Activation.Function)
  /// factor · f(x)
  case scaled(Activation.Function, by: Float)
  /// min(max(0, x), 6)
  case relu6
  case exponential
  /// x · sigmoid(βx)
  case swish(beta: Float)
  /// x · tanh(log(1 + eˣ))
  case mish
  /// x · min(max(x / 6 + ½, 0), 1)
  case hardSwish
  /// x > 0 ? x : x > −2 ? x² / 2 + x : 0
  case hardMish
  /// −log(1 + e⁻ˣ)
  case logSigmoid
  /// x · Φ(x), where Φ is the standard normal distribution function
  case gelu
  /// x / 2 · (1 + tanh(0.797885x + 0.035677x³))
  case geluTanh
  /// min(max(x, −1), 1), where layer `unit` maps it to 0…1
  case hardTanh(unit: String)
  /// x < 0 ? 0.001x : x > 1 ? 0.001(x − 1) + 1 : x
  case leakyHardTanh
  /// x < −4 ? 0.01(x + 4) : x > 4 ? 0.01(x − 4) + 1 : 0.125x + 0.5
  case piecewiseLogistic
  /// |x| > ½ ? x : 0
  case hardShrink
  /// x − min(max(x, −½), ½)
  case softShrink
  /// x − tanh(x)
  case tanhShrink
  /// (min(max(x, −1), 1) + 1)² / 4 + max(x − 1, 0)
  case sparsePlus
  /// (x + √(x² + 4)) / 2
  case squarePlus
  /// n = ⌊x⌋; n even ? ⌊x / 2⌋ : x − n + ⌊x / 2⌋
  case stair
  /// x / (Σ x + 10⁻⁴) over the channels, of max(x, 0)
  case channelShare
  /// The same for eˣ, or for exp(x − max x)
  case exponentialShare(lessMaximum: Bool)
}

/// Names of the layers for a function.
package struct ActivationNames {
  /// The name of the last layer.
  let name: String
  /// The last layer's blob; nil means a blob with the layer's name.
  var output: String?
  private let prefix: String
  private let suffix: String

  /// - Parameters:
  ///   - prefix: text before the name of a part.
  ///   - suffix: text after the name of a part.
  package init(_ name: String, prefix: String, suffix: String, output: String? = nil) {
    self.name = name
    self.prefix = prefix
    self.suffix = suffix
    self.output = output
  }

  fileprivate func callAsFunction(_ part: String) -> String { prefix + part + suffix }
}

extension LayerWriting {
  /// Adds the layers of a function of `x`, and returns the blob of its values.
  package mutating func add(
    _ formula: ActivationFormula, _ x: String, _ names: ActivationNames
  ) -> String {
    let (name, output) = (names.name, names.output)
    switch formula {
    case .single(let function): return add(name, Activation(function), [x], to: output)
    case .scaled(let function, let factor):
      let part = if case .elu = function { "elu" } else { "leaky" }
      return affine(add(names(part), Activation(function), [x]), factor, name, to: output)
    case .relu6:
      let relu = add(names("relu"), Activation(.relu), [x])
      // min(x, 6) = −max(−x, −6)
      let limited = unary(.threshold, affine(relu, -1, names("neg")), names("clip"), alpha: -6)
      return affine(limited, -1, name, to: output)
    case .exponential: return unary(.exp, x, name, epsilon: 0, to: output)
    case .swish(let beta):
      let scaled = beta == 1 ? x : affine(x, beta, names("scaled"))
      return gated(x, .sigmoid, of: scaled, names("sigmoid"), names)
    case .mish:
      let softplus = add(names("softplus"), Activation(.softplus), [x])
      return gated(x, .tanh, of: softplus, names("tanh"), names)
    case .hardSwish:
      return gated(x, .sigmoidHard(alpha: 1 / 6, beta: 0.5), of: x, names("gate"), names)
    case .hardMish:
      // s = min(max(−x / 2, 0), 1), then max(x, 0) + 2s² − 2s
      let s = add(names("clip"), Activation(.sigmoidHard(alpha: -0.5, beta: 0)), [x])
      let relu = add(names("relu"), Activation(.relu), [x])
      let square = product(s, affine(s, 2, -2, names("line")), names("square"))
      return sum([relu, square], name, to: output)
    case .logSigmoid:
      let softplus = add(
        names("softplus"), Activation(.softplus), [affine(x, -1, names("neg"))])
      return affine(softplus, -1, name, to: output)
    case .gelu: return gelu(x, names)
    case .geluTanh:
      let cube = unary(.power, x, names("cube"), alpha: 3)
      let inner = sum(
        [affine(x, 0.797885, names("first")), affine(cube, 0.035677, names("third"))],
        names("sum"))
      let gate = affine(add(names("tanh"), Activation(.tanh), [inner]), 0.5, 0.5, names("gate"))
      return product(x, gate, name, to: output)
    case .hardTanh(let unit): return clamped(x, 1, name, unit: names(unit))
    case .leakyHardTanh:
      let clip = add(names("clip"), Activation(.sigmoidHard(alpha: 1, beta: 0)), [x])
      return sum(
        [affine(clip, 0.999, names("inner")), affine(x, 0.001, names("outer"))], name, to: output)
    case .piecewiseLogistic:
      // c = min(max(x / 8 + ½, 0), 1), then c + 0.01(x − (8c − 4))
      let clip = add(names("clip"), Activation(.sigmoidHard(alpha: 0.125, beta: 0.5)), [x])
      return sum(
        [affine(clip, 0.92, 0.04, names("inner")), affine(x, 0.01, names("outer"))], name,
        to: output)
    case .hardShrink:
      let threshold = Activation(.thresholdedReLU(alpha: Float(0.5).nextUp))
      let above = add(names("above"), threshold, [x])
      let below = add(names("below"), threshold, [affine(x, -1, names("minus"))])
      return difference(above, below, name)
    case .softShrink:
      let clip = names("clip")
      return difference(x, clamped(x, 0.5, clip, unit: clip + "__unit__"), name)
    case .tanhShrink:
      return difference(x, add(names("tanh"), Activation(.tanh), [x]), name)
    case .sparsePlus:
      let clip = names("clip")
      let clipped = clamped(x, 1, clip, unit: clip + "__unit__")
      let shifted = affine(clipped, 0.5, 0.5, names("half"))
      let square = product(shifted, shifted, names("square"))
      let over = add(names("relu"), Activation(.relu), [affine(x, 1, -1, names("over"))])
      return sum([square, over], name, to: output)
    case .squarePlus:
      let square = product(x, x, names("square"))
      let root = unary(.sqrt, square, names("root"), shift: 4)
      return affine(sum([x, root], names("sum")), 0.5, name, to: output)
    case .stair:
      // f = ⌊x / 2⌋, then f + max(x − 2f − 1, 0)
      let half = add(names("floor"), Floor(), [affine(x, 0.5, names("half"))])
      let rest = sum([x, affine(half, -2, -1, names("even"))], names("rest"))
      return sum(
        [half, add(names("rise"), Activation(.relu), [rest])], name, to: output)
    case .channelShare: return share(add(names("relu"), Activation(.relu), [x]), names)
    case .exponentialShare(let lessMaximum):
      guard lessMaximum else { return share(unary(.exp, x, names("exp")), names) }
      let most = affine(reduced(.max, .c, x, names("max")), -1, names("neg"))
      return share(unary(.exp, sum([x, most], names("below")), names("exp")), names)
    }
  }

  /// x · f(z)
  private mutating func gated(
    _ x: String, _ function: Activation.Function, of z: String, _ gate: String,
    _ names: ActivationNames
  ) -> String {
    product(x, add(gate, Activation(function), [z]), names.name, to: names.output)
  }

  /// x / (Σ x + 10⁻⁴), summed over the channels
  private mutating func share(_ x: String, _ names: ActivationNames) -> String {
    let sum = affine(reduced(.sum, .c, x, names("sum")), 1, 1e-4, names("shift"))
    return product(
      x, unary(.power, sum, names("inverse"), alpha: -1), names.name, to: names.output)
  }

  /// min(max(x, −limit), limit); `unit` is the layer that maps it to 0…1.
  private mutating func clamped(
    _ blob: String, _ limit: Float, _ name: String, unit: String
  ) -> String {
    let scaled = add(unit, Activation(.sigmoidHard(alpha: 0.5 / limit, beta: 0.5)), [blob])
    return affine(scaled, 2 * limit, -limit, name)
  }

  /// x · Φ(x) = max(0, x) − |x| / 2 · P(t) · exp(−x² / 2) with t = 1 / (1 + 0.3275911 |x| / √2),
  /// accurate to 1.5e-7 · |x| / 2.
  ///
  /// Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
  private mutating func gelu(_ x: String, _ names: ActivationNames) -> String {
    let size = unary(.abs, x, names("abs"))
    let denominator = affine(size, 0.3275911 / Float(2).squareRoot(), 1, names("denominator"))
    let t = unary(.power, denominator, names("t"), alpha: -1)
    let factors: [Float] = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592]
    var polynomial = affine(t, factors[0], factors[1], names("p0"))
    for (index, factor) in factors.dropFirst(2).enumerated() {
      let step = product(polynomial, t, names("m\(index + 1)"))
      polynomial = affine(step, 1, factor, names("p\(index + 1)"))
    }
    let square = product(x, x, names("square"))
    let bell = unary(.exp, affine(square, -0.5, names("half")), names("exp"))
    let tail = product(
      product(polynomial, t, names("m4")), product(size, bell, names("weight")), names("tail"))
    let relu = add(names("relu"), Activation(.relu), [x])
    return sum([relu, affine(tail, -0.5, names("minus"))], names.name, to: names.output)
  }
}
