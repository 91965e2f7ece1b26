/// A function of each number.
struct ActivationLayer: DarknetLayer {
  static let sections = ["activation"]
  static let options = ["activation"]

  private let activation: ActivationFunction

  init(_ section: ConfigurationSection) throws {
    activation = ActivationFunction(section, default: .linear)
  }

  func convert(_ call: LayerCall, into network: inout DarknetNetwork) throws -> DarknetTensor {
    try network.activate(activation, call.input, call)
  }
}

/// 1 / (1 + e⁻ˣ), with a loss in training.
struct LogisticLayer: DarknetLayer {
  static let sections = ["logistic"]
  static let options: [String] = []

  init(_ section: ConfigurationSection) throws {}

  func convert(_ call: LayerCall, into network: inout DarknetNetwork) throws -> DarknetTensor {
    try network.activate(.formula(.logistic), call.input, call)
  }
}
