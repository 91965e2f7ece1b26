import ImportSupport

/// An elementwise function.
struct ActivationLayer: DarknetLayer {
  static let source = SourceLayer("activation", becomes: "see the functions below")
  static let options = ["activation"]

  private let activation: ActivationFunction

  init(_ section: ConfigurationSection) throws {
    activation = ActivationFunction(section, default: "linear")
  }

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    try network.activate(activation, call.input, call)
  }
}

/// 1 / (1 + e⁻ˣ), with a loss in training.
struct LogisticLayer: DarknetLayer {
  static let source = SourceLayer("logistic", becomes: "activation sigmoid")
  static let options: [String] = []

  init(_ section: ConfigurationSection) throws {}

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    try network.activate(ActivationFunction("logistic"), call.input, call)
  }
}
