import CoreMLModel
import ImportSupport
import LibC
import TensorCore

/// out = activation(alpha · in + beta · from), over the channels, rows and columns that both have;
/// if `from` is larger, only every n-th row and column is used. With several `from` and
/// `weights_type`, it is a weighted sum.
struct ShortcutLayer: DarknetLayer {
  static let source = SourceLayer(
    "shortcut",
    becomes: "add; slices if `from` has other channels, rows or columns; scales for "
      + "`weights_type`", refused: "a `from` of fewer rows")
  static let options = [
    "from", "activation", "alpha", "beta", "weights_type", "weights_normalization",
  ]

  private enum WeightKind { case none, perLayer, perChannel }
  private enum Norm { case none, relu, softmax }

  private let from: [Int]
  private let activation: ActivationFunction
  private let alpha: Double
  private let beta: Double
  private let kind: WeightKind
  private let norm: Norm

  init(_ section: ConfigurationSection) throws {
    let option = try section.required("from")
    from = try section.ints("from") ?? []
    guard !from.isEmpty else { throw section.error(option, "it refers to no layer") }
    activation = ActivationFunction(section, default: "linear")
    alpha = try section.double("alpha", default: 1)
    beta = try section.double("beta", default: 1)
    switch section.string("weights_type") {
    case nil, "none": kind = .none
    case "per_feature", "per_layer": kind = .perLayer
    case "per_channel": kind = .perChannel
    case let other?:
      throw try section.error(
        section.required("weights_type"), "'\(other)' is unknown",
        hint: "none, per_feature or per_channel")
    }
    switch section.string("weights_normalization") {
    case nil, "none": norm = .none
    case "relu", "avg_relu": norm = .relu
    case "softmax": norm = .softmax
    case let other?:
      throw try section.error(
        section.required("weights_normalization"), "'\(other)' is unknown",
        hint: "none, relu or softmax")
    }
    try require(
      kind == .none || (alpha == 1 && beta == 1), .unsupported,
      "line \(section.line): weights together with alpha and beta")
    try require(
      from.count == 1 || (alpha == 1 && beta == 1), .unsupported,
      "line \(section.line): several layers together with alpha and beta")
  }

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    let input = try call.image
    let sources = try from.map { try call.output($0) }
    if kind != .none { return try weighted(input, sources, call, &network) }
    var result = input
    var addends: [String] = []
    for (position, source) in sources.enumerated() {
      let suffix = sources.count == 1 ? "" : "_\(position)"
      if source.shape == input.shape {
        addends.append(scaled(source.blob, beta, "\(call.name)__beta__", &network))
        continue
      }
      let part = try fitted(source, to: input, suffix, call, &network)
      if part.channels == input.channels {
        addends.append(scaled(part.blob, beta, "\(call.name)__beta__", &network))
        continue
      }
      // Channels that `from` lacks stay unchanged.
      let own = network.slice(
        result.blob, 0..<part.channels, "\(call.name)__own\(suffix)__")
      let rest = network.slice(
        result.blob, part.channels..<input.channels, "\(call.name)__rest\(suffix)__")
      let sum = network.sum(
        [
          scaled(own, alpha, "\(call.name)__alpha__", &network),
          scaled(part.blob, beta, "\(call.name)__beta__", &network),
        ], "\(call.name)__sum\(suffix)__")
      result.blob = network.joined(
        [sum, rest], alongSequence: false, "\(call.name)__joined\(suffix)__")
    }
    if !addends.isEmpty {
      let own = scaled(result.blob, alpha, "\(call.name)__alpha__", &network)
      result.blob = network.sum([own] + addends, call.name)
    }
    return try network.activate(activation, result, call)
  }

  private func scaled(
    _ blob: String, _ factor: Double, _ name: String, _ network: inout DarknetWriter
  ) -> String {
    factor == 1 ? blob : network.affine(blob, Float(factor), 0, name)
  }

  /// The part of `source` that is added to `input`: with the rows and columns of `input`, and at
  /// most its channels.
  private func fitted(
    _ source: DarknetTensor, to input: DarknetTensor, _ suffix: String, _ call: LayerCall,
    _ network: inout DarknetWriter
  ) throws -> DarknetTensor {
    let channels = min(source.channels, input.channels)
    var blob = source.blob
    if channels < source.channels {
      blob = network.slice(blob, 0..<channels, "\(call.name)__channels\(suffix)__")
    }
    if !source.hasSize(of: input) {
      let step = source.width / input.width
      try call.require(
        step >= 1 && step == source.height / input.height,
        unsupported:
          "it adds \(source.sizes) to \(input.sizes), whose rows and columns differ by different factors"
      )
      for (axis, length, name) in [
        (Slice.Axis.height, input.height, "rows"), (.width, input.width, "columns"),
      ] {
        let end = try checkedProduct([length - 1, step], limit: Limits.dimension) + 1
        blob = network.slice(
          blob, 0..<end, of: axis, stride: step, "\(call.name)__\(name)\(suffix)__")
      }
    }
    return try DarknetTensor(blob, channels, input.height, input.width)
  }

  /// Σ w · x, with the weights normalized across the layers.
  private func weighted(
    _ input: DarknetTensor, _ sources: [DarknetTensor], _ call: LayerCall,
    _ network: inout DarknetWriter
  ) throws -> DarknetTensor {
    for source in sources where source.shape != input.shape {
      throw call.unsupported(
        "it weights \(source.sizes) and \(input.sizes), which have different sizes")
    }
    let rows = sources.count + 1
    let columns = kind == .perChannel ? input.channels : 1
    try network.addConstants([rows, columns], call)
    let stored = try network.weights.take("weights", [rows, columns], layer: call.name).array()
    var terms: [String] = []
    for (row, tensor) in ([input] + sources).enumerated() {
      let factors = (0..<columns).map { column -> Float in
        Float(normalized((0..<rows).map { Double(stored[$0 * columns + column]) })[row])
      }
      var scale = Scale()
      scale.shapeScale = [columns, 1, 1]
      scale.scale = Weights(factors)
      terms.append(network.add("\(call.name)__weight_\(row)__", scale, [tensor.blob]))
    }
    return try network.activate(activation, input.with(network.sum(terms, call.name)), call)
  }

  private func normalized(_ weights: [Double]) -> [Double] {
    let epsilon = 1e-4
    switch norm {
    case .none: return weights
    case .relu:
      let kept = weights.map { max($0, 0) }
      let sum = kept.reduce(epsilon, +)
      return kept.map { $0 / sum }
    case .softmax:
      let powers = weights.map { exp($0 - (weights.max() ?? 0)) }
      let sum = powers.reduce(epsilon, +)
      return powers.map { $0 / sum }
    }
  }
}
