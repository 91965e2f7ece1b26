import ByteFormats
import CoreMLModel
import ImportSupport

/// A forward and a backward recurrent layer over the same sequence.
enum Bidirectional: KerasLayer {
  static let classes = [SourceLayer](
    "Bidirectional",
    becomes:
      "biDirectionalLSTM, split and merge; other cells as two layers, the second reversed",
    options: "`merge_mode` concat, sum, mul, ave, None; `backward_layer`; also for ConvLSTM2D")
  static let maskPolicy = MaskPolicy.decides

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    if ConvLSTM.classNames.contains(try configuration.inner("layer").kind) {
      let directions = try Directions<ConvLSTM>(configuration)
      return conversion(directions.weights) { try directions.convert($0, into: &$1) }
    }
    let directions = try Directions<RecurrentLayer>(configuration)
    return conversion(directions.weights) { call, network in
      var outputs = try directions.convert(call, into: &network)
      guard directions.forward.path.returnsSequences else { return outputs }
      let count = if case .separate = directions.merge { 2 } else { 1 }
      for index in 0..<count { outputs[index].mask = call.inputs[0].mask }
      return outputs
    }
  }
}

/// A layer that can run in either direction along a sequence.
private protocol DirectedLayer: KerasLayerSettings { var path: RecurrentPath { get set } }

extension RecurrentLayer: DirectedLayer {}
extension ConvLSTM: DirectedLayer {}

private struct Directions<Layer: DirectedLayer> {
  private(set) var forward: Layer
  private(set) var backward: Layer
  let merge: DirectionMerge

  init(_ configuration: LayerConfiguration) throws {
    func layer(_ field: String) throws -> Layer {
      let inner = try configuration.inner(field)
      try configuration.require(
        Layer.classNames.contains(inner.kind), field,
        unsupported: "\(inner.kind) is not a recurrent layer that can be converted")
      let layer = try Layer(inner)
      try inner.requireRead()
      return layer
    }
    forward = try layer("layer")
    if configuration.field("backward_layer") != nil {
      backward = try layer("backward_layer")
    } else {
      var reversed = forward
      reversed.path.isReversed.toggle()
      backward = reversed
    }
    if configuration.version.isTensorFlow2 {
      // The wrapper overrides the layers' settings.
      forward.path.zeroesIgnored = forward.path.returnsSequences
      backward.path.zeroesIgnored = backward.path.returnsSequences
    }
    merge = try DirectionMerge(configuration)
    try configuration.require(
      forward.path.isReversed != backward.path.isReversed
        && forward.path.returnsSequences == backward.path.returnsSequences, "backward_layer",
      unsupported: "it must run backwards and return as many steps")
  }

  var weights: [WeightSlot] {
    func prefixed(_ layer: Layer, _ prefix: String) -> [WeightSlot] {
      layer.weights.map { WeightSlot(prefix + $0.name, isTrainable: $0.isTrainable) }
    }
    return prefixed(forward, "forward_") + prefixed(backward, "backward_")
  }
}

/// How the outputs of the two directions are combined.
private enum DirectionMerge {
  case separate
  case concat
  case elements(any LayerParameters)

  init(_ configuration: LayerConfiguration) throws {
    guard let (field, value) = configuration.field("merge_mode") else {
      self = configuration["merge_mode"] == nil ? .concat : .separate
      return
    }
    switch value.string {
    case "concat": self = .concat
    case "sum": self = .elements(Add())
    case "mul": self = .elements(Multiply())
    case "ave": self = .elements(Average())
    default: throw configuration.bad(field, value, "concat, sum, mul, ave or null")
    }
  }

  var isConcat: Bool { if case .concat = self { true } else { false } }
}

extension LayerConfiguration {
  fileprivate func inner(_ field: String) throws -> LayerConfiguration {
    guard let (_, json) = self.field(field), let inner = inner(json, in: "Bidirectional")
    else { throw missing([field]) }
    return inner
  }
}

/// Convolutional LSTMs over images in both directions.
extension Directions<ConvLSTM> {
  func convert(_ call: LayerCall, into network: inout KerasWriter) throws -> [KerasTensor] {
    guard call.inputs.count == 1 else {
      throw call.unsupported("initial states of a bidirectional ConvLSTM are not supported")
    }
    func part(_ layer: ConvLSTM, _ name: String, reversesOutput: Bool) throws -> [KerasTensor] {
      try layer.convert(
        call.with(name: call.name + "_" + name, inputs: call.inputs), name + "_",
        reversesOutput: reversesOutput, into: &network)
    }
    let first = try part(forward, "forward", reversesOutput: false)
    // Keras reverses the steps of the second layer, whichever direction each layer runs in.
    let second = try part(
      backward, "backward", reversesOutput: backward.path.returnsSequences)
    let states = Array(first.dropFirst() + second.dropFirst())
    let halves = call.with(name: call.name, inputs: [first[0], second[0]])
    switch merge {
    case .separate: return halves.inputs + states
    // Concatenates along the last axis, even with channels first.
    case .concat: return try network.concatenated(axis: first[0].rank - 1, halves) + states
    case .elements(let layer): return try network.elementwise(layer, halves) + states
    }
  }
}

/// Core ML has a layer for two LSTMs. Other cells become two layers; if they return sequences, a
/// backward recurrent layer that copies its input reverses the second one's output.
extension Directions<RecurrentLayer> {
  func convert(_ call: LayerCall, into network: inout KerasWriter) throws -> [KerasTensor] {
    let (input, initial) = try call.sequence(
      &network, states: forward.cell.states.count + backward.cell.states.count)
    let repeats = forward.path.returnsSequences && !forward.path.zeroesIgnored
    if input.mask != nil, repeats, call.version.isTensorFlowKeras || !call.version.isKnown {
      network.notes.append(
        "layer '\(call.name)' (\(call.className)): masked steps repeat the step before, as in "
          + "TensorFlow before 2.1; the file does not say whether a later one wrote it, where they "
          + "are 0")
    }
    let channels = input.isShapeAssumed ? nil : input.channels
    let weights = ["forward_", "backward_"].map {
      CellWeights(call: call, prefix: $0, inputs: channels)
    }
    if let result = try native(input, weights, initial, &network) { return result }
    let count = forward.cell.states.count
    let (first, firstStates, _) = try forward.add(
      input, weights[0],
      RecurrentLayer.Names(layer: call.name + "_forward", states: network.stateName(call.name)),
      initial: initial.map { Array($0.prefix(count)) }, to: &network)
    var (second, secondStates, secondInitial) = try backward.add(
      input, weights[1],
      RecurrentLayer.Names(
        layer: call.name + "_backward", states: network.stateName(call.name),
        stateSuffix: "_rev"),
      initial: initial.map { Array($0.dropFirst(count)) }, to: &network)
    if backward.path.returnsSequences {
      // Of stacked cells, the first may be the smallest.
      let sizes = backward.cell.states.map(\.units)
      let index = sizes.firstIndex { $0 >= backward.cell.units } ?? 0
      second.blob = try network.reversed(
        second.blob, channels: backward.cell.units, beside: (secondInitial[index], sizes[index]),
        call.name + "_reverse")
    }
    let states = forward.path.returnsState ? firstStates + secondStates : []
    return try merged([first, second], call, &network) + states
  }

  /// Core ML's bidirectional LSTM.
  private func native(
    _ input: KerasTensor, _ weights: [CellWeights], _ initial: [String]?,
    _ network: inout KerasWriter
  ) throws -> [KerasTensor]? {
    guard input.mask == nil, !forward.path.isReversed, let first = forward.cell as? LSTMCell,
      let second = backward.cell as? LSTMCell, first.units == second.units,
      let firstActivations = first.nativeActivations,
      let secondActivations = second.nativeActivations,
      first.parameters(forward.path) == second.parameters(backward.path)
    else { return nil }
    let call = weights[0].call
    if forward.unclips(input, call) || backward.unclips(input, call) { return nil }
    (forward.cell.isClipped ? forward : backward).noteClip(call, &network)
    let units = first.units
    var layer = BiDirectionalLSTM()
    let (firstWeights, inputSize) = try first.nativeWeights(weights[0])
    layer.inputVectorSize = inputSize
    layer.outputVectorSize = units
    layer.activationsForwardLSTM = firstActivations
    layer.activationsBackwardLSTM = secondActivations
    layer.params = first.parameters(forward.path)
    layer.weightParams = [firstWeights, try second.nativeWeights(weights[1]).0]
    let stateName = network.stateName(call.name)
    let suffixes = ["h_in", "c_in", "h_in_rev", "c_in_rev"]
    let states =
      initial ?? suffixes.map { network.addStateInput("\(stateName)_\($0)", units: units) }
    let blobs = network.add(
      call.name, layer, [input.blob] + states,
      states: ["h_out", "c_out", "h_out_rev", "c_out_rev"].map { "\(stateName)_\($0)" },
      units: units)
    let given = blobs.dropFirst().map {
      KerasTensor(blob: $0, shape: [input.shape[0], units], layout: .vector)
    }
    let stateOutputs = forward.path.returnsState ? given : []
    var output = forward.path.output(input, units: merge.isConcat ? 2 * units : units)
    output.blob = blobs[0]
    if merge.isConcat { return [output] + stateOutputs }
    var split = Split()
    split.nOutputs = 2
    let halves = network.add(
      call.name + "_split", split, [blobs[0]],
      outputs: [call.name + "_output_forward", call.name + "_output_backward"]
    ).map { blob in
      return output.with(blob)
    }
    return try merged(halves, call, &network) + stateOutputs
  }

  private func merged(
    _ halves: [KerasTensor], _ call: LayerCall, _ network: inout KerasWriter
  ) throws -> [KerasTensor] {
    var output = halves[0]
    let blobs = halves.map(\.blob)
    switch merge {
    case .separate: return halves
    case .concat:
      output.shape[output.rank - 1] = forward.cell.units + backward.cell.units
      output.blob = network.add(call.name, Concat(), blobs)
    case .elements(let layer):
      try call.require(
        forward.cell.units == backward.cell.units, "its layers have different numbers of units")
      output.blob = network.add(call.name + "_elementwise", layer, blobs)
    }
    return [output]
  }
}

extension KerasWriter {
  /// Reverses the steps of a sequence, with a backward recurrent layer that has a unit matrix and
  /// no feedback.
  ///
  /// - Parameter state: a vector with at least as many units as there are channels. Multiplied by
  ///   0, it serves as the state that Core ML requires.
  mutating func reversed(
    _ blob: String, channels: Int, beside state: (blob: String, units: Int), _ name: String
  ) throws -> String {
    var matrix = try [Float](zeros: channels * channels)
    // Core ML clips the argument of a recurrent function to −50 to 50.
    let scale: Float = 1 / 4096
    for channel in 0..<channels { matrix[channel * (channels + 1)] = scale }
    var layer = SimpleRecurrent()
    layer.inputVectorSize = channels
    layer.outputVectorSize = channels
    layer.activation = Activation(.linear(alpha: 1, beta: 0))
    layer.sequenceOutput = true
    layer.reverseInput = true
    layer.weightMatrix = Weights(matrix)
    layer.recursionMatrix = Weights(try [Float](zeros: channels * channels))
    let part =
      state.units == channels ? state.blob : slice(state.blob, 0..<channels, name + "_slice")
    let zeros = affine(part, 0, 0, name + "_zero")
    let outputs = add(
      name, layer, [blob, zeros], outputs: [name + "_output", name + "_state"])
    return affine(outputs[0], 1 / scale, 0, name + "_scale")
  }
}
