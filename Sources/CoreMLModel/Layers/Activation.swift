/// A function of each element.
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
        .floats(
          "linear", ["alpha", "beta"], { .linear(alpha: $0[0], beta: $0[1]) },
          { if case .linear(let alpha, let beta) = $0 { [alpha, beta] } else { nil } }),
        .empty("ReLU", .relu),
        .floats(
          "leakyReLU", ["alpha"], { .leakyReLU(alpha: $0[0]) },
          { if case .leakyReLU(let alpha) = $0 { [alpha] } else { nil } }),
        .floats(
          "thresholdedReLU", ["alpha"], { .thresholdedReLU(alpha: $0[0]) },
          { if case .thresholdedReLU(let alpha) = $0 { [alpha] } else { nil } }),
        .flat(
          "PReLU", read: { .prelu(alpha: try $0.message("alpha")) },
          { if case .prelu(let alpha) = $0 { .some(alpha) } else { nil } },
          write: { try $1.set("alpha", $0) }),
        .empty("tanh", .tanh),
        .floats(
          "scaledTanh", ["alpha", "beta"], { .scaledTanh(alpha: $0[0], beta: $0[1]) },
          { if case .scaledTanh(let alpha, let beta) = $0 { [alpha, beta] } else { nil } }),
        .empty("sigmoid", .sigmoid),
        .floats(
          "sigmoidHard", ["alpha", "beta"], { .sigmoidHard(alpha: $0[0], beta: $0[1]) },
          { if case .sigmoidHard(let alpha, let beta) = $0 { [alpha, beta] } else { nil } }),
        .floats(
          "ELU", ["alpha"], { .elu(alpha: $0[0]) },
          { if case .elu(let alpha) = $0 { [alpha] } else { nil } }),
        .empty("softsign", .softsign),
        .empty("softplus", .softplus),
        .flat(
          "parametricSoftplus",
          read: {
            .parametricSoftplus(alpha: try $0.message("alpha"), beta: try $0.message("beta"))
          },
          { if case .parametricSoftplus(let alpha, let beta) = $0 { (alpha, beta) } else { nil } },
          write: {
            try $1.set("alpha", $0.0)
            try $1.set("beta", $0.1)
          }),
      ])
  ]

  /// The shapes are those in the file: one value, or one per channel.
  package var weights: [NamedWeights] {
    switch function {
    case .prelu(let alpha): named("PReLU.alpha", alpha)
    case .parametricSoftplus(let alpha, let beta):
      named("parametricSoftplus.alpha", alpha) + named("parametricSoftplus.beta", beta)
    default: []
    }
  }

  private func named(_ name: String, _ values: Weights?) -> [NamedWeights] {
    values.map { [NamedWeights(name, [$0.storedCount], $0)] } ?? []
  }

  package func check(_ faults: inout Faults) {
    faults.require(function != nil, "NonlinearityType", "the function is missing")
  }
}
