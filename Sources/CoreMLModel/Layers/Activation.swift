/// An elementwise function.
package struct Activation: LayerParameters, ShapeKeepingLayer, SpecificationMessage {
  package enum Function: Sendable, Equatable {
    /// αx + β
    case linear(alpha: Float, beta: Float)
    /// max(0, x)
    case relu
    /// x > 0 ? x : αx
    case leakyReLU(alpha: Float)
    /// x ≥ α ? x : 0
    case thresholdedReLU(alpha: Float)
    /// x > 0 ? x : α[c]·x, one α or one per channel
    case prelu(alpha: Weights?)
    case tanh
    /// α · tanh(βx)
    case scaledTanh(alpha: Float, beta: Float)
    case sigmoid
    /// min(max(αx + β, 0), 1)
    case sigmoidHard(alpha: Float, beta: Float)
    /// x > 0 ? x : α(eˣ − 1)
    case elu(alpha: Float)
    /// x / (1 + |x|)
    case softsign
    /// log(1 + eˣ)
    case softplus
    /// α[c] · log(1 + exp(β[c]·x))
    case parametricSoftplus(alpha: Weights?, beta: Weights?)
  }

  package static let minimumRank = 0

  package var function: Function?
  package var unknownFields = UnknownFields()

  package init() {}

  package init(_ function: Function) { self.function = function }

  package static let fields: Fields = [
    .choice(
      \.function,
      [
        option("linear") { .linear(alpha: $0[0], beta: $0[1]) }, option("ReLU") { _ in .relu },
        option("leakyReLU") { .leakyReLU(alpha: $0[0]) },
        option("thresholdedReLU") { .thresholdedReLU(alpha: $0[0]) },
        weighted("PReLU", .prelu(alpha: nil)), option("tanh") { _ in .tanh },
        option("scaledTanh") { .scaledTanh(alpha: $0[0], beta: $0[1]) },
        option("sigmoid") { _ in .sigmoid },
        option("sigmoidHard") { .sigmoidHard(alpha: $0[0], beta: $0[1]) },
        option("ELU") { .elu(alpha: $0[0]) }, option("softsign") { _ in .softsign },
        option("softplus") { _ in .softplus },
        weighted("parametricSoftplus", .parametricSoftplus(alpha: nil, beta: nil)),
      ])
  ]

  private static let parameters = ["alpha", "beta"]

  private static func option(
    _ name: String, _ embed: @escaping ([Float]) -> Function
  ) -> Choice<Function> {
    .floats(name, Array(parameters.prefix(embed([0, 0]).row.numbers.count)), embed) {
      $0.row.field == name ? $0.row.numbers : nil
    }
  }

  private static func weighted(_ name: String, _ function: Function) -> Choice<Function> {
    let names = parameters.prefix(function.row.weights.count)
    return .flat(
      name,
      read: { reader in
        function.with(weights: try names.map { name -> Weights? in try reader.message(name) })
      },
      { $0.row.field == name ? $0.row.weights : nil },
      write: { for (name, weights) in zip(names, $0) { try $1.set(name, weights) } })
  }

  /// The shapes are those in the file: one value, or one per channel.
  package var weights: [NamedWeights] {
    guard let row = function?.row else { return [] }
    return zip(Self.parameters, row.weights).compactMap { name, values in
      values.map { NamedWeights("\(row.field).\(name)", [$0.storedCount], $0) }
    }
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(function != nil, "NonlinearityType", "the function is missing")
  }
}

extension Activation.Function {
  /// A function's names, and its parameters α and β: numbers, or one value per channel.
  package struct Row {
    /// The name in the specification.
    package let field: String
    /// The name in an ML Program.
    package let operation: String
    /// The name of the kernel.
    package let kernel: String
    package var numbers: [Float] = []
    package var weights: [Weights?] = []

    fileprivate init(
      _ field: String, _ operation: String, _ kernel: String, _ numbers: Float...,
      weights: [Weights?] = []
    ) {
      (self.field, self.operation, self.kernel) = (field, operation, kernel)
      (self.numbers, self.weights) = (numbers, weights)
    }
  }

  package var row: Row {
    switch self {
    case .linear(let alpha, let beta): Row("linear", "linear_activation", "linear", alpha, beta)
    case .relu: Row("ReLU", "relu", "relu")
    case .leakyReLU(let alpha): Row("leakyReLU", "leaky_relu", "leaky", alpha)
    case .thresholdedReLU(let alpha):
      Row("thresholdedReLU", "thresholded_relu", "thresholdedRelu", alpha)
    case .prelu(let alpha): Row("PReLU", "prelu", "leaky", weights: [alpha])
    case .tanh: Row("tanh", "tanh", "tanh")
    case .scaledTanh(let alpha, let beta):
      Row("scaledTanh", "scaled_tanh", "scaledTanh", alpha, beta)
    case .sigmoid: Row("sigmoid", "sigmoid", "sigmoid")
    case .sigmoidHard(let alpha, let beta):
      Row("sigmoidHard", "sigmoid_hard", "hardSigmoid", alpha, beta)
    case .elu(let alpha): Row("ELU", "elu", "elu", alpha)
    case .softsign: Row("softsign", "softsign", "softsign")
    case .softplus: Row("softplus", "softplus", "softplus")
    case .parametricSoftplus(let alpha, let beta):
      Row(
        "parametricSoftplus", Self.parametric.operation, "parametricSoftplus",
        weights: [alpha, beta])
    }
  }

  /// The functions without parameters, by their operations, and their formulas.
  package static let plain: [String: (function: Self, formula: String)] = [
    "relu": (.relu, "max(x, 0)"), "tanh": (.tanh, "tanh x"),
    "sigmoid": (.sigmoid, "1 / (1 + exp(−x))"), "softsign": (.softsign, "x / (1 + |x|)"),
    "softplus": (.softplus, "log(1 + exp(x))"),
  ]

  /// The operation for `α[c] · f(β[c] · x)`, and f.
  package static let parametric = (operation: "softplus_parametric", function: Self.softplus)

  /// The function with other per-channel values, if it has any.
  package func with(weights: [Weights?]) -> Self {
    switch self {
    case .prelu: .prelu(alpha: weights[0])
    case .parametricSoftplus: .parametricSoftplus(alpha: weights[0], beta: weights[1])
    default: self
    }
  }

  /// Whether the function's values are never negative.
  package var isNonnegative: Bool {
    switch self {
    case .relu, .sigmoid, .softplus, .sigmoidHard: true
    default: false
    }
  }
}
