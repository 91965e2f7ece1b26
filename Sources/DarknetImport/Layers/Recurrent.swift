import CoreMLModel
import ImportSupport
import TensorCore

/// A state that a section keeps from one image to the next: an input of the model, initially zeros,
/// and an output to pass to the next prediction.
struct SectionState: Sendable {
  let input: String
  let output: String
  let tensor: DarknetTensor
}

extension DarknetWriter {
  /// Returns the blob of a state before the image.
  mutating func state(_ call: LayerCall, _ name: String = "state") -> String {
    reserve("\(call.name)_\(name)_in")
  }

  /// Stores a blob as the state after the image.
  mutating func keep(_ blob: String, as input: String, _ tensor: DarknetTensor) {
    // The state may also be the section's output, whose name the user can choose.
    let name = String(input.dropLast(3)) + "_out"
    let output = affine(blob, 1, 0, name, to: name)
    states.append(SectionState(input: input, output: output, tensor: tensor))
  }
}

extension DarknetLayer {
  /// s = f(U · x) + f(W · s), out = f(V · s)
  static let recurrent = DarknetLayer(
    SourceLayer(
      "rnn",
      becomes:
        "three innerProducts with batchnorm and activation, a sum; the state is an input and "
        + "an output"),
    options: [
      "output", "hidden", "batch_normalize", "activation", "shortcut", "logistic",
    ]
  ) { section in
    let range = 1...WindowOptions.filterLimit
    let outputs = try section.int("output", default: 1, in: range)
    // Joseph Redmon's Darknet lacks `hidden`.
    let hidden = try section.int("hidden", default: outputs, in: range)
    let isNormalized = try section.bool("batch_normalize")
    let keepsState = try section.bool("shortcut")
    let activation = ActivationFunction(section, default: "logistic")
    let ownName = [1: "logistic", 2: "loggy"][try section.int("logistic", default: 0)]
    let ownActivation = ownName.map { ActivationFunction($0) } ?? activation
    return { call, network in
      let input = try call.input
      func matrix(_ inputs: Int, _ outputs: Int, _ part: String) throws -> ConnectedWeights {
        try ConnectedWeights(
          [outputs, inputs], isNormalized: isNormalized, "\(call.name)__\(part)__", call, &network)
      }
      let first = try matrix(input.count, hidden, "input")
      let own = try matrix(hidden, hidden, "self")
      let last = try matrix(hidden, outputs, "output")
      let state = try DarknetTensor(network.state(call), hidden, 1, 1)
      let row = network.flattened(input, for: call.name)
      let parts = [
        try network.activate(activation, state.with(network.add(first, row)), call).blob,
        try network.activate(ownActivation, state.with(network.add(own, state.blob)), call).blob,
      ]
      let next = network.sum(
        parts + (keepsState ? [state.blob] : []), call.name + "__state__")
      network.keep(next, as: state.blob, state)
      let output = try DarknetTensor(network.add(last, next), outputs, 1, 1)
      return try network.activate(activation, output, call)
    }
  }

  /// z = σ(Uz · x + Wz · s), r = σ(Ur · x + Wr · s), h = σ(Uh · x + Wh · (r · s)), out = s = z · s +
  /// (1 − z) · h; with `tanh`, h is a tanh.
  static let gated = DarknetLayer(
    SourceLayer(
      "gru",
      becomes:
        "six innerProducts with batchnorm, sums, sigmoid, tanh, products; the state is an input "
        + "and an output"), options: ["output", "batch_normalize", "tanh"]
  ) { section in
    let outputs = try section.int("output", default: 1, in: 1...WindowOptions.filterLimit)
    let isNormalized = try section.bool("batch_normalize")
    let isTanh = try section.bool("tanh")
    return { call, network in
      let input = try call.input
      func matrices(_ inputs: Int, _ part: String) throws -> [ConnectedWeights] {
        try ["z", "r", "h"].map {
          try ConnectedWeights(
            [outputs, inputs], isNormalized: isNormalized, "\(call.name)__\(part)_\($0)__", call,
            &network)
        }
      }
      let ofInput: [ConnectedWeights]
      let ofState: [ConnectedWeights]
      if network.weights.isOfBochkovskiy {
        ofInput = try matrices(input.count, "input")
        ofState = try matrices(outputs, "state")
      } else {
        ofState = try matrices(outputs, "state")
        ofInput = try matrices(input.count, "input")
      }
      let row = network.flattened(input, for: call.name)
      let state = network.state(call)
      func gate(_ index: Int, _ state: String, _ function: Activation, _ name: String) -> String {
        let sum = network.sum(
          [network.add(ofInput[index], row), network.add(ofState[index], state)],
          "\(call.name)__\(name)_sum__")
        return network.add("\(call.name)__\(name)__", function, [sum])
      }
      let share = gate(0, state, Activation(.sigmoid), "z")
      let reset = gate(1, state, Activation(.sigmoid), "r")
      let forgotten = network.product(reset, state, call.name + "__forgotten__")
      let new = gate(2, forgotten, Activation(isTanh ? .tanh : .sigmoid), "h")
      let kept = network.product(share, state, call.name + "__kept__")
      let rest = network.affine(share, -1, 1, call.name + "__rest__")
      let output = network.sum(
        [kept, network.product(rest, new, call.name + "__new__")], call.name)
      let tensor = try DarknetTensor(output, outputs, 1, 1)
      network.keep(output, as: state, tensor)
      return tensor
    }
  }

  /// i, f, o = σ(U · x + W · h), g = tanh(Ug · x + Wg · h), c = f · c + i · g, out = h = o · tanh(c)
  static let longMemory = DarknetLayer(
    SourceLayer(
      "lstm",
      becomes: "eight innerProducts with batchnorm, sums, sigmoid, tanh, products; both states are "
        + "inputs and outputs"), options: ["output", "batch_normalize"]
  ) { section in
    let outputs = try section.int("output", default: 1, in: 1...WindowOptions.filterLimit)
    let isNormalized = try section.bool("batch_normalize")
    return { call, network in
      let input = try call.input
      let gates = network.weights.isOfBochkovskiy ? ["f", "i", "g", "o"] : ["i", "f", "o", "g"]
      func matrices(_ inputs: Int, _ part: String) throws -> [String: ConnectedWeights] {
        var matrices: [String: ConnectedWeights] = [:]
        for gate in gates {
          matrices[gate] = try ConnectedWeights(
            [outputs, inputs], isNormalized: isNormalized, "\(call.name)__\(part)_\(gate)__", call,
            &network)
        }
        return matrices
      }
      let ofState = try matrices(outputs, "state")
      let ofInput = try matrices(input.count, "input")
      let row = network.flattened(input, for: call.name)
      let (state, cell) = (network.state(call), network.state(call, "cell"))
      var values: [String: String] = [:]
      for gate in gates {
        let parts = [(ofInput[gate], row), (ofState[gate], state)].compactMap { matrix, blob in
          matrix.map { network.add($0, blob) }
        }
        let sum = network.sum(parts, "\(call.name)__\(gate)_sum__")
        values[gate] = network.add(
          "\(call.name)__\(gate)__", Activation(gate == "g" ? .tanh : .sigmoid), [sum])
      }
      let kept = network.product(values["f"] ?? "", cell, call.name + "__kept__")
      let new = network.product(values["i"] ?? "", values["g"] ?? "", call.name + "__new__")
      let next = network.sum([kept, new], call.name + "__cell__")
      let squashed = network.add(call.name + "__tanh__", Activation(.tanh), [next])
      let output = network.product(values["o"] ?? "", squashed, call.name)
      let tensor = try DarknetTensor(output, outputs, 1, 1)
      network.keep(output, as: state, tensor)
      network.keep(next, as: cell, tensor)
      return tensor
    }
  }
}
