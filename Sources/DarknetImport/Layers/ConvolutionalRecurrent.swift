import CoreMLModel
import ImportSupport
import TensorCore

/// Convolutions whose output has the size of their input, so that a state can be added.
private struct StateConvolutions: Sendable {
  static let options = [
    "batch_normalize", "size", "stride", "dilation", "pad", "padding", "groups", "xnor",
  ]

  private let size: Int
  private let dilation: Int
  private let groups: Int
  private let isNormalized: Bool
  private let takesSigns: Bool

  /// - Parameter border: returns the default of `padding` for a window size.
  init(_ section: ConfigurationSection, border: (Int) -> Int) throws {
    size = try section.int("size", default: 3, in: 1...WindowOptions.limit)
    let own = try section.int("padding", default: border(size), in: 0...WindowOptions.limit)
    let border = try section.bool("pad") ? size / 2 : own
    let gaps = try section.int("dilation", default: 1, in: 1...WindowOptions.limit)
    dilation = size == 1 ? 1 : gaps
    takesSigns = try section.bool("xnor")
    groups = takesSigns ? 1 : max(1, try section.int("groups", default: 1))
    isNormalized = try section.bool("batch_normalize")
    if let option = section["stride"], try section.int("stride", default: 1) != 1 {
      throw ModelError(
        .unsupported, "line \(option.line): stride = \(option.value) is not supported here")
    }
    if 2 * border != size - 1 {
      throw ModelError(
        .unsupported,
        "line \(section.line): a window of \(size) with a border of \(border) changes the size of "
          + "the state")
    }
  }

  /// Reads the weights of one of the convolutions.
  func weights(
    _ inputs: Int, _ filters: Int, _ call: LayerCall, _ network: inout DarknetWriter
  ) throws -> ConvolutionWeights {
    try call.require(
      inputs % groups == 0 && filters % groups == 0,
      "\(inputs) channels and \(filters) filters are not divisible into \(groups) groups")
    let weights = try ConvolutionWeights(
      filters: filters, kernel: [filters, inputs / groups, size, size],
      isNormalized: isNormalized, call, from: &network)
    return takesSigns ? try weights.ofSigns() : weights
  }

  func apply(
    _ weights: ConvolutionWeights, to blob: String, _ call: LayerCall,
    _ network: inout DarknetWriter
  ) -> String {
    let border = [size / 2 * dilation, size / 2 * dilation]
    let convolution = Convolution(
      weights.kernel.shape, groups: groups, stride: [1, 1], dilation: [dilation, dilation],
      border: border)
    return network.add(
      convolution, weights, takesSigns ? network.signs(blob, call.name) : blob, call)
  }
}

/// Like `rnn`, with convolutions.
struct ConvolutionalRecurrentLayer: DarknetLayer {
  static let source = SourceLayer(
    "crnn",
    becomes:
      "three convolutions with batchnorm and activation, a sum; the state is an input and an "
      + "output", refused: "windows that change the size")
  static let options = ["output", "hidden", "activation", "shortcut"] + StateConvolutions.options

  private let outputs: Int
  private let hidden: Int
  private let convolutions: StateConvolutions
  private let keepsState: Bool
  private let activation: ActivationFunction

  init(_ section: ConfigurationSection) throws {
    let range = 1...WindowOptions.filterLimit
    outputs = try section.int("output", default: 1, in: range)
    hidden = try section.int("hidden", default: 1, in: range)
    keepsState = try section.bool("shortcut")
    activation = ActivationFunction(section, default: "logistic")
    // Joseph Redmon's Darknet always uses a border of 1, Alexey Bochkovskiy's the given one.
    convolutions = try StateConvolutions(section) { $0 == 3 ? 1 : 0 }
  }

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    let input = try call.image
    let first = try convolutions.weights(input.channels, hidden, call, &network)
    let own = try convolutions.weights(hidden, hidden, call, &network)
    let last = try convolutions.weights(hidden, outputs, call, &network)
    let state = try DarknetTensor(network.state(call), hidden, input.height, input.width)
    let parts = try [(first, input.blob), (own, state.blob)].map { weights, blob in
      try network.activate(
        activation, state.with(convolutions.apply(weights, to: blob, call, &network)), call
      ).blob
    }
    let next = network.sum(parts + (keepsState ? [state.blob] : []), call.name + "__state__")
    network.keep(next, as: state.blob, state)
    let output = try DarknetTensor(
      convolutions.apply(last, to: next, call, &network), outputs, input.height, input.width)
    return try network.activate(activation, output, call)
  }
}

/// Like `lstm`, with convolutions U, W and, with `peephole`, V of the cell c: i, f, o = σ(U ∗ x + W
/// ∗ h + V ∗ c), g = a(Ug ∗ x + Wg ∗ h), c = f · c + i · g, out = h = o · a(c), where o depends on
/// the new c. With `bottleneck`, the only W is in b = a(Wf ∗ (h, x)), which replaces x.
struct ConvolutionalLongMemoryLayer: DarknetLayer {
  static let source = SourceLayer(
    "conv_lstm",
    becomes: "eight convolutions with batchnorm and activation, sums, sigmoid, tanh, products; "
      + "both states are inputs and outputs", refused: "windows that change the size")
  static let options =
    [
      "output", "activation", "lstm_activation", "peephole", "bottleneck", "shortcut",
      "state_constrain",
    ] + StateConvolutions.options
  static let trainingOptions = ["time_normalizer"]

  private let outputs: Int
  private let convolutions: StateConvolutions
  private let activation: ActivationFunction
  private let ownActivation: ActivationFunction
  private let seesCell: Bool
  private let hasBottleneck: Bool
  private let addsBottleneck: Bool
  /// The limit of the cell's values; 0 for none.
  private let limit: Int

  init(_ section: ConfigurationSection) throws {
    outputs = try section.int("output", default: 1, in: 1...WindowOptions.filterLimit)
    convolutions = try StateConvolutions(section) { _ in 0 }
    activation = ActivationFunction(section, default: "linear")
    ownActivation = ActivationFunction(section.string("lstm_activation") ?? "tanh")
    seesCell = try section.bool("peephole")
    hasBottleneck = try section.bool("bottleneck")
    addsBottleneck = try hasBottleneck && section.bool("shortcut")
    // The default is 32 per time step; a prediction is one step.
    limit = try section.int("state_constrain", default: 32)
    if addsBottleneck, outputs % 2 != 0 {
      throw ModelError(
        .unsupported,
        "line \(section.line): a shortcut to half of \(outputs) filters is not supported")
    }
  }

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    let input = try call.image
    try call.require(
      !hasBottleneck || input.channels == outputs,
      "its bottleneck needs an input of \(outputs) channels, but gets \(input.channels)")
    func weights(_ gates: [String], _ inputs: Int) throws -> [String: ConvolutionWeights] {
      var weights: [String: ConvolutionWeights] = [:]
      for gate in gates {
        weights[gate] = try convolutions.weights(inputs, outputs, call, &network)
      }
      return weights
    }
    let gates = ["f", "i", "g", "o"]
    let ofCell = try weights(seesCell ? ["f", "i", "o"] : [], outputs)
    let ofState = try weights(
      hasBottleneck ? ["f"] : gates, hasBottleneck ? 2 * outputs : outputs)
    let ofInput = try weights(gates, input.channels)
    let tensor = try DarknetTensor(network.state(call), outputs, input.height, input.width)
    let cell = network.state(call, "cell")

    func convolved(_ weights: ConvolutionWeights, _ blob: String) throws -> String {
      let result = convolutions.apply(weights, to: blob, call, &network)
      return try network.activate(activation, tensor.with(result), call).blob
    }
    var source = input.blob
    if hasBottleneck, let weights = ofState["f"] {
      let both = network.joined(
        [tensor.blob, input.blob], alongSequence: false, call.name + "__both__")
      source = try network.activate(ownActivation, tensor.with(convolved(weights, both)), call).blob
    }
    var next = cell
    func gate(_ gate: String) throws -> String {
      var parts: [String] = []
      if let weights = ofInput[gate] { parts.append(try convolved(weights, source)) }
      if !hasBottleneck, let weights = ofState[gate] {
        parts.append(try convolved(weights, tensor.blob))
      }
      if let weights = ofCell[gate] { parts.append(try convolved(weights, next)) }
      let sum = parts.count == 1 ? parts[0] : network.sum(parts, "\(call.name)__\(gate)_sum__")
      if gate == "g" { return try network.activate(ownActivation, tensor.with(sum), call).blob }
      return network.add("\(call.name)__\(gate)__", Activation(.sigmoid), [sum])
    }
    let kept = network.product(try gate("f"), cell, call.name + "__kept__")
    let new = network.product(try gate("i"), try gate("g"), call.name + "__new__")
    next = network.sum([kept, new], call.name + "__cell__")
    let squashed = try network.activate(ownActivation, tensor.with(next), call).blob
    let output = network.product(try gate("o"), squashed, call.name)
    network.keep(output, as: tensor.blob, tensor)
    network.keep(limited(next, call, &network), as: cell, tensor)
    guard addsBottleneck else { return tensor.with(output) }
    let (half, whole) = (outputs / 2, outputs)
    let parts = [(output, 0..<half), (source, 0..<half), (output, half..<whole)].enumerated().map {
      network.slice($1.0, $1.1, "\(call.name)__half_\($0)__")
    }
    let sum = network.sum([parts[0], parts[1]], call.name + "__shortcut__")
    return tensor.with(
      network.joined([sum, parts[2]], alongSequence: false, call.name + "__halves__"))
  }

  /// min(max(x, −limit), limit)
  private func limited(
    _ blob: String, _ call: LayerCall, _ network: inout DarknetWriter
  ) -> String {
    guard limit > 0 else { return blob }
    let alpha = -Float(limit)
    let above = network.unary(.threshold, blob, call.name + "__above__", alpha: alpha)
    let mirrored = network.affine(above, -1, 0, call.name + "__mirrored__")
    let below = network.unary(.threshold, mirrored, call.name + "__below__", alpha: alpha)
    return network.affine(below, -1, 0, call.name + "__limited__")
  }
}
