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
  private let activation: ActivationFunction

  /// - Parameters:
  ///   - standard: the default of `activation`.
  ///   - border: returns the default of `padding` for a window size.
  init(
    _ section: ConfigurationSection, activation standard: String, border: (Int) -> Int
  ) throws {
    size = try section.int("size", default: 3, in: 1...WindowOptions.limit)
    let own = try section.int("padding", default: border(size), in: 0...WindowOptions.limit)
    let border = try section.bool("pad") ? size / 2 : own
    let gaps = try section.int("dilation", default: 1, in: 1...WindowOptions.limit)
    dilation = size == 1 ? 1 : gaps
    takesSigns = try section.bool("xnor")
    groups = takesSigns ? 1 : max(1, try section.int("groups", default: 1))
    isNormalized = try section.bool("batch_normalize")
    activation = ActivationFunction(section, default: standard)
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

  /// The activated result of a convolution.
  func apply(
    _ weights: ConvolutionWeights, to blob: String, like input: DarknetTensor, _ call: LayerCall,
    _ network: inout DarknetWriter
  ) throws -> DarknetTensor {
    let shape = weights.kernel.shape
    let border = [size / 2 * dilation, size / 2 * dilation]
    let convolution = Convolution(
      shape, groups: groups, stride: [1, 1], dilation: [dilation, dilation], border: border)
    let result = network.add(
      convolution, weights, takesSigns ? network.signs(blob, call.name) : blob, call)
    return try network.activate(
      activation, DarknetTensor(result, shape[0], input.height, input.width), call)
  }
}

extension DarknetLayer {
  /// Like `rnn`, with convolutions.
  static let convolutionalRecurrent = DarknetLayer(
    SourceLayer(
      "crnn",
      becomes:
        "three convolutions with batchnorm and activation, a sum; the state is an input and an "
        + "output", refused: "windows that change the size"),
    options: ["output", "hidden", "activation", "shortcut"] + StateConvolutions.options
  ) { section in
    let range = 1...WindowOptions.filterLimit
    let outputs = try section.int("output", default: 1, in: range)
    let hidden = try section.int("hidden", default: 1, in: range)
    let keepsState = try section.bool("shortcut")
    // Joseph Redmon's Darknet always uses a border of 1, Alexey Bochkovskiy's the given one.
    let convolutions = try StateConvolutions(section, activation: "logistic") { $0 == 3 ? 1 : 0 }
    return { call, network in
      let input = try call.image
      let first = try convolutions.weights(input.channels, hidden, call, &network)
      let own = try convolutions.weights(hidden, hidden, call, &network)
      let last = try convolutions.weights(hidden, outputs, call, &network)
      let state = try DarknetTensor(network.state(call), hidden, input.height, input.width)
      let parts = try [(first, input.blob), (own, state.blob)].map { weights, blob in
        try convolutions.apply(weights, to: blob, like: input, call, &network).blob
      }
      let next = network.sum(parts + (keepsState ? [state.blob] : []), call.name + "__state__")
      network.keep(next, as: state.blob, state)
      return try convolutions.apply(last, to: next, like: input, call, &network)
    }
  }

  /// Like `lstm`, with convolutions U, W and, with `peephole`, V of the cell c: i, f, o = σ(U ∗ x + W
  /// ∗ h + V ∗ c), g = a(Ug ∗ x + Wg ∗ h), c = f · c + i · g, out = h = o · a(c), where o depends on
  /// the new c. With `bottleneck`, the only W is in b = a(Wf ∗ (h, x)), which replaces x.
  static let convolutionalLongMemory = DarknetLayer(
    SourceLayer(
      "conv_lstm",
      becomes: "eight convolutions with batchnorm and activation, sums, sigmoid, tanh, products; "
        + "both states are inputs and outputs", refused: "windows that change the size"),
    options: [
      "output", "activation", "lstm_activation", "peephole", "bottleneck", "shortcut",
      "state_constrain",
    ] + StateConvolutions.options, trainingOptions: ["time_normalizer"]
  ) { section in
    let outputs = try section.int("output", default: 1, in: 1...WindowOptions.filterLimit)
    let convolutions = try StateConvolutions(section, activation: "linear") { _ in 0 }
    let ownActivation = ActivationFunction(section.string("lstm_activation") ?? "tanh")
    let seesCell = try section.bool("peephole")
    let hasBottleneck = try section.bool("bottleneck")
    let addsBottleneck = try hasBottleneck && section.bool("shortcut")
    // The limit of the cell's values, 0 for none. The default is 32 per time step; a prediction is
    // one step.
    let limit = try section.int("state_constrain", default: 32)
    if addsBottleneck, outputs % 2 != 0 {
      throw ModelError(
        .unsupported,
        "line \(section.line): a shortcut to half of \(outputs) filters is not supported")
    }
    return { call, network in
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
      var source = input.blob
      if hasBottleneck, let weights = ofState["f"] {
        let both = network.joined(
          [tensor.blob, input.blob], alongSequence: false, call.name + "__both__")
        source = try network.activate(
          ownActivation, convolutions.apply(weights, to: both, like: input, call, &network), call
        ).blob
      }
      var next = cell
      func gate(_ gate: String) throws -> String {
        let terms = [
          (ofInput[gate], source), (hasBottleneck ? nil : ofState[gate], tensor.blob),
          (ofCell[gate], next),
        ]
        let parts = try terms.compactMap { weights, blob in
          try weights.map {
            try convolutions.apply($0, to: blob, like: input, call, &network).blob
          }
        }
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
      network.keep(network.limited(next, limit, call.name), as: cell, tensor)
      guard addsBottleneck else { return tensor.with(output) }
      let (half, whole) = (outputs / 2, outputs)
      let parts = [(output, 0..<half), (source, 0..<half), (output, half..<whole)].enumerated().map
      {
        network.slice($1.0, $1.1, "\(call.name)__half_\($0)__")
      }
      let sum = network.sum([parts[0], parts[1]], call.name + "__shortcut__")
      return tensor.with(
        network.joined([sum, parts[2]], alongSequence: false, call.name + "__halves__"))
    }
  }
}

extension DarknetWriter {
  /// min(max(x, −limit), limit)
  fileprivate mutating func limited(_ blob: String, _ limit: Int, _ name: String) -> String {
    guard limit > 0 else { return blob }
    let above = unary(.threshold, blob, name + "__above__", alpha: -Float(limit))
    let mirrored = affine(above, -1, 0, name + "__mirrored__")
    let below = unary(.threshold, mirrored, name + "__below__", alpha: -Float(limit))
    return affine(below, -1, 0, name + "__limited__")
  }
}
