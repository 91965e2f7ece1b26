import ImportSupport

/// x / √(Σ x²), with the sum over the channels at each position.
struct L2NormLayer: DarknetLayer {
  static let source = SourceLayer("l2norm", becomes: "reduce, power and a product")
  static let options: [String] = []

  init(_ section: ConfigurationSection) throws {}

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    let input = try call.image
    let squares = network.reduced(.sumsquare, .c, input.blob, call.name + "__squares__")
    let factor = network.unary(.power, squares, call.name + "__factor__", alpha: -0.5)
    return input.with(network.product(input.blob, factor, call.name))
  }
}
