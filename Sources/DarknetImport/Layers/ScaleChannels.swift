import ImportSupport

/// activation(in · from), with one factor per channel, or, with `scale_wh`, one per position.
struct ScaleChannelsLayer: DarknetLayer {
  static let source = SourceLayer("scale_channels", becomes: "multiply, activation")
  static let options = ["from", "scale_wh", "activation"]

  private let from: Int
  private let isByPlace: Bool
  private let activation: ActivationFunction

  init(_ section: ConfigurationSection) throws {
    from = try section.reference("from")
    isByPlace = try section.bool("scale_wh")
    activation = ActivationFunction(section, default: "linear")
  }

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    let factors = try call.image
    let source = try call.output(from)
    let fits =
      isByPlace
      ? factors.channels == 1 && factors.hasSize(of: source)
      : factors.isRow && factors.channels == source.channels
    try call.require(fits, "factors of \(factors.sizes) do not match \(source.sizes)")
    let blob = network.product(source.blob, factors.blob, call.name)
    return try network.activate(activation, source.with(blob), call)
  }
}

/// activation(in · from), elementwise.
struct SAMLayer: DarknetLayer {
  static let source = SourceLayer("sam", becomes: "multiply, activation")
  static let options = ["from", "activation"]

  private let from: Int
  private let activation: ActivationFunction

  init(_ section: ConfigurationSection) throws {
    from = try section.reference("from")
    activation = ActivationFunction(section, default: "linear")
  }

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    let input = try call.image
    let source = try call.output(from)
    try call.require(
      input.shape == source.shape, "\(input.sizes) times \(source.sizes): the sizes differ")
    let blob = network.product(input.blob, source.blob, call.name)
    return try network.activate(activation, source.with(blob), call)
  }
}
