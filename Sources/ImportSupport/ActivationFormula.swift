import CoreMLModel

/// An activation function of the frameworks, one row of `all`: its names and the layers that
/// compute it.
package struct ActivationFormula: Sendable {
  /// The framework in which a name has this meaning.
  package enum Dialect: String, Sendable {
    case keras, darknet
    /// tf.keras since 2.3, Keras since 2.13 and 3
    case tensorFlow, keras2, keras3
    /// Functions that a version of Keras lacks but that have the same definition everywhere.
    case customary
  }

  private let names: [(dialect: Dialect?, name: String)]
  private let parts: String
  /// The layers, as listed in Darknet's documentation.
  package let becomes: String
  /// The type of Caffe's layer.
  package let caffe: SourceLayer?
  /// The parameters: Caffe's fields, with defaults if Caffe's schema has none; other frameworks use
  /// `values`.
  package let fields: [(message: String, name: String, standard: Float?)]
  private let values: [Float]

  /// - Parameters:
  ///   - names: `DIALECT:NAME` for each name.
  ///   - parts: `PART LAYER NUMBERS INPUTS` for each layer, where x is the function's argument and
  ///     α and β are its parameters. The last part has no name.
  private init(
    _ names: String, _ parts: String, _ becomes: String = "", caffe: SourceLayer? = nil,
    fields: [(String, String, Float?)] = [], values: [Float] = []
  ) {
    self.names = names.split(separator: " ").map { name in
      let words = name.split(separator: ":").map(String.init)
      return (Dialect(rawValue: words[0]), words[words.count - 1])
    }
    (self.parts, self.becomes, self.caffe) = (parts, becomes, caffe)
    (self.fields, self.values) = (fields, values)
  }

  package func names(in dialects: Dialect...) -> [String] {
    names.filter { dialects.contains($0.dialect ?? .customary) }.map(\.name)
  }

  /// The function with this name.
  package static func named(_ name: String, in dialect: Dialect) -> ActivationFormula? {
    all.first { $0.names.contains { $0 == (dialect, name) } }
  }

  package static let all: [ActivationFormula] = [
    Self("keras:linear darknet:linear", "linear 1 0 x", "nothing"),
    Self(
      "keras:relu darknet:relu", "leaky α x", "activation ReLU",
      caffe: SourceLayer(
        "ReLU", becomes: "activation ReLU; leakyReLU", options: "`negative_slope`"),
      fields: [("relu_param", "negative_slope", nil)], values: [0]),
    // min(x, 6) = −max(−x, −6)
    Self(
      "darknet:relu6",
      "relu: relu x; neg: linear -1 0 relu; clip: threshold -6 neg; linear -1 0 clip",
      "activation ReLU and an upper limit"),
    // `revleaky` is the same at inference.
    Self("darknet:leaky darknet:revleaky", "leaky 0.1 x", "activation leakyReLU 0.1"),
    Self("darknet:relie", "leaky 0.01 x", "activation leakyReLU 0.01"),
    Self("keras3:leaky_relu keras2:leaky_relu", "leaky 0.2 x"),
    // max(x, 0) + 0.1x
    Self("darknet:ramp", "leaky: leaky 1/11 x; linear 1.1 0 leaky", "leakyReLU 1/11 times 1.1"),
    Self(
      "keras:sigmoid darknet:logistic", "sigmoid x", "activation sigmoid",
      caffe: SourceLayer("Sigmoid", becomes: "activation sigmoid")),
    // 2 / (1 + e⁻ˣ) − 1
    Self("darknet:loggy", "scaledTanh 1 0.5 x", "activation scaledTanh: tanh(x / 2)"),
    Self(
      "keras:tanh darknet:tanh", "tanh x", "activation tanh",
      caffe: SourceLayer("TanH", becomes: "activation tanh")),
    // x > 0 ? x : α(eˣ − 1)
    Self(
      "keras:elu darknet:elu", "elu α x", "activation ELU 1",
      caffe: SourceLayer("ELU", becomes: "activation ELU", options: "`alpha`"),
      fields: [("elu_param", "alpha", nil)], values: [1]),
    // BVLC/caffe's commit 3866af4, `selu_layer.cpp`
    Self(
      "darknet:selu", "elu: elu α x; linear β 0 elu", "ELU 1.6732 times 1.0507",
      caffe: SourceLayer(
        "SeLu", "SeLU", "SELU", becomes: "activation ELU, linear",
        options: "`selu_param.lambda`, default 1.050700987; `selu_param.alpha`, default 1.67326324"),
      fields: [("selu_param", "alpha", 1.67326324), ("selu_param", "lambda", 1.050700987)],
      values: [1.6732, 1.0507]),
    // x / 2 · (1 + tanh(0.797885x + 0.035677x³)): Keras's gelu with `approximate`
    Self(
      "keras:gelu_approximate darknet:gelu",
      "cube: power 3 x; first: linear 0.797885 0 x; third: linear 0.035677 0 cube; "
        + "sum: add first third; tanh: tanh sum; gate: linear 0.5 0.5 tanh; multiply x gate",
      "cube, sum, tanh and a product"),
    // x · Φ(x) = max(0, x) − |x| / 2 · P(t) · exp(−x² / 2) with t = 1 / (1 + 0.3275911 |x| / √2),
    // accurate to 1.5e-7 · |x| / 2.
    // Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
    Self(
      "tensorFlow:gelu customary:gelu",
      "abs: abs x; denominator: linear \(0.3275911 / Float(2).squareRoot()) 1 abs; "
        + "t: power -1 denominator; p0: linear 1.061405429 -1.453152027 t; "
        + "m1: multiply p0 t; p1: linear 1 1.421413741 m1; m2: multiply p1 t; "
        + "p2: linear 1 -0.284496736 m2; m3: multiply p2 t; p3: linear 1 0.254829592 m3; "
        + "square: multiply x x; half: linear -0.5 0 square; exp: exp half; m4: multiply p3 t; "
        + "weight: multiply abs exp; tail: multiply m4 weight; relu: relu x; "
        + "minus: linear -0.5 0 tail; add relu minus"),
    // x · sigmoid(βx)
    Self(
      "tensorFlow:silu tensorFlow:swish customary:silu customary:swish darknet:swish",
      "scaled: linear α 0 x; sigmoid: sigmoid scaled; multiply x sigmoid", "sigmoid and a product",
      caffe: SourceLayer(
        "Swish", becomes: "activation sigmoid, multiply; activation linear first if beta is not 1",
        options: "`beta`"), fields: [("swish_param", "beta", nil)], values: [1]),
    // x · tanh(log(1 + eˣ))
    Self(
      "keras2:mish customary:mish darknet:mish",
      "softplus: softplus x; tanh: tanh softplus; multiply x tanh", "softplus, tanh, a product",
      caffe: SourceLayer("Mish", becomes: "activation softplus, tanh, multiply")),
    // s = min(max(−x / 2, 0), 1), then max(x, 0) + 2s² − 2s
    Self(
      "darknet:hard_mish",
      "clip: hardSigmoid -0.5 0 x; relu: relu x; line: linear 2 -2 clip; square: multiply clip line; "
        + "add relu square", "sigmoidHard, its square, ReLU and a sum"),
    // min(max(x, −1), 1)
    Self(
      "darknet:hardtan", "clip: hardSigmoid 0.5 0.5 x; linear 2 -1 clip",
      "sigmoidHard, linear layers and a sum"),
    // x < 0 ? 0.001x : x > 1 ? 0.001(x − 1) + 1 : x
    Self(
      "darknet:lhtan",
      "clip: hardSigmoid 1 0 x; inner: linear 0.999 0 clip; outer: linear 0.001 0 x; add inner outer",
      "sigmoidHard, linear layers and a sum"),
    // c = min(max(x / 8 + ½, 0), 1), then c + 0.01(x − (8c − 4))
    Self(
      "darknet:plse",
      "clip: hardSigmoid 0.125 0.5 x; inner: linear 0.92 0.04 clip; outer: linear 0.01 0 x; "
        + "add inner outer", "sigmoidHard, linear layers and a sum"),
    // n = ⌊x⌋; n even ? ⌊x / 2⌋ : x − n + ⌊x / 2⌋, which is f + max(x − 2f − 1, 0) with f = ⌊x / 2⌋
    Self(
      "darknet:stair",
      "half: linear 0.5 0 x; floor: floor half; even: linear -2 -1 floor; rest: add x even; "
        + "rise: relu rest; add floor rise",
      "floor, ReLU and sums; specification 4 with exact shapes"),
    Self(
      "darknet:normalize_channels", "relu: relu x; " + share("relu"),
      "a sum over the channels and a quotient"),
    Self(
      "darknet:normalize_channels_softmax", "exp: exp x; " + share("exp"),
      "a sum over the channels and a quotient"),
    Self(
      "darknet:normalize_channels_softmax_maxval",
      "max: max x; neg: linear -1 0 max; below: add x neg; exp: exp below; " + share("exp"),
      "a sum over the channels and a quotient"),
    Self(
      "keras:softplus", "softplus x", caffe: SourceLayer("BNLL", becomes: "activation softplus")),
    Self("", "abs 0 x", caffe: SourceLayer("AbsVal", becomes: "unary abs")),
    Self("keras:softsign", "softsign x"), Self("keras3:celu", "elu 1 x"),
    Self("keras:exponential", "exp 0 x"),
    Self("keras:hard_sigmoid", "hardSigmoid 0.2 0.5 x"),
    Self("keras3:hard_sigmoid customary:hard_sigmoid_torch", "hardSigmoid 1/6 0.5 x"),
    Self("keras3:sparse_sigmoid", "hardSigmoid 0.5 0.5 x"),
    // x · min(max(x / 6 + ½, 0), 1)
    Self(
      "keras3:hard_silu keras3:hard_swish customary:hard_swish customary:hardswish "
        + "customary:hswish customary:h_swish", "gate: hardSigmoid 1/6 0.5 x; multiply x gate"),
    // −log(1 + e⁻ˣ)
    Self("keras3:log_sigmoid", "neg: linear -1 0 x; softplus: softplus neg; linear -1 0 softplus"),
    // min(max(x, −1), 1)
    Self("keras3:hard_tanh", "unit: hardSigmoid 0.5 0.5 x; linear 2 -1 unit"),
    // |x| > ½ ? x : 0
    Self(
      "keras3:hard_shrink",
      "above: thresholded \(Float(0.5).nextUp) x; minus: linear -1 0 x; "
        + "below: thresholded \(Float(0.5).nextUp) minus; neg: linear -1 0 below; add above neg"),
    // x − min(max(x, −½), ½)
    Self(
      "keras3:soft_shrink",
      "clip____unit: hardSigmoid 1 0.5 x; clip: linear 1 -0.5 clip____unit; neg: linear -1 0 clip; "
        + "add x neg"),
    Self("keras3:tanh_shrink", "tanh: tanh x; neg: linear -1 0 tanh; add x neg"),
    // (min(max(x, −1), 1) + 1)² / 4 + max(x − 1, 0)
    Self(
      "keras3:sparse_plus",
      "clip____unit: hardSigmoid 0.5 0.5 x; clip: linear 2 -1 clip____unit; half: linear 0.5 0.5 clip; "
        + "square: multiply half half; over: linear 1 -1 x; relu: relu over; add square relu"),
    // (x + √(x² + 4)) / 2
    Self(
      "keras3:squareplus",
      "square: multiply x x; root: sqrt 4 square; sum: add x root; linear 0.5 0 sum"
    ),
  ]

  /// x / (Σ x + 10⁻⁴), where x is a part and the sum runs over the channels.
  private static func share(_ x: String) -> String {
    "sum: total \(x); shift: linear 1 1e-4 sum; inverse: power -1 shift; multiply \(x) inverse"
  }

  /// The layers, with the names of the parts and of their inputs; a nil layer means that the part
  /// equals its input.
  fileprivate func layers(
    _ values: [Float]
  ) -> [(name: String, layer: (any LayerParameters)?, inputs: [String])] {
    let values = values.isEmpty ? self.values : values
    return parts.split(separator: "; ").map { text in
      let part = text.split(separator: ": ")
      let words = part[part.count - 1].split(separator: " ").map(String.init)
      var (numbers, inputs): ([Float], [String]) = ([], [])
      for word in words.dropFirst() {
        let fraction = word.split(separator: "/").compactMap { Float($0) }
        switch (word, fraction.count) {
        case ("α", _): numbers.append(values[0])
        case ("β", _): numbers.append(values[1])
        case (_, 1): numbers.append(fraction[0])
        case (_, 2): numbers.append(fraction[0] / fraction[1])
        default: inputs.append(word)
        }
      }
      let isScaled = part.count == 1 || words[0] != "linear" || numbers != [1, 0]
      return (
        part.count == 1 ? "" : String(part[0]), isScaled ? Self.layer(words[0], numbers) : nil,
        inputs
      )
    }
  }

  private static func layer(_ name: String, _ numbers: [Float]) -> any LayerParameters {
    let (a, b) = (numbers.first ?? 0, numbers.last ?? 0)
    func unary(_ type: Unary.Operation, shift: Float = 0, epsilon: Float = 1e-6) -> Unary {
      Unary().with(\.type, type).with(\.alpha, a).with(\.scale, 1).with(\.shift, shift)
        .with(\.epsilon, epsilon)
    }
    return switch name {
    case "linear": Activation(.linear(alpha: a, beta: b))
    case "leaky": Activation(a == 0 ? .relu : .leakyReLU(alpha: a))
    case "thresholded": Activation(.thresholdedReLU(alpha: a))
    case "elu": Activation(.elu(alpha: a))
    case "hardSigmoid": Activation(.sigmoidHard(alpha: a, beta: b))
    case "scaledTanh": Activation(.scaledTanh(alpha: a, beta: b))
    case "exp": unary(.exp, epsilon: numbers.first ?? 1e-6)
    case "abs": unary(.abs, epsilon: numbers.first ?? 1e-6)
    case "power": unary(.power)
    case "threshold": unary(.threshold)
    case "sqrt": unary(.sqrt).with(\.alpha, 0).with(\.shift, a)
    case "floor": Floor()
    case "max": Reduce().with(\.mode, .max).with(\.axis, .c)
    case "total": Reduce().with(\.mode, .sum).with(\.axis, .c)
    case "add": Add()
    case "multiply": Multiply()
    default: Activation(Activation.Function.plain[name]?.function ?? .linear(alpha: .nan, beta: 0))
    }
  }
}

/// The names of a function's layers.
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

  func callAsFunction(_ part: String) -> String { part.isEmpty ? name : prefix + part + suffix }
}

extension LayerWriting {
  /// Adds the layers that apply a function to `x`, and returns the output blob.
  package mutating func add(
    _ formula: ActivationFormula, _ x: String, _ names: ActivationNames, _ values: [Float] = []
  ) -> String {
    var blobs = ["x": x]
    for (part, layer, inputs) in formula.layers(values) {
      let inputs = inputs.compactMap { blobs[$0] }
      blobs[part] =
        layer.map {
          add(names(part), $0, inputs, to: part.isEmpty ? names.output : nil)
        } ?? inputs[0]
    }
    return blobs[""] ?? x
  }
}
