import CoreMLModel
import ImportSupport
import TensorCore

/// A unidirectional recurrent layer: a cell and its path.
struct RecurrentLayer: KerasLayerSettings {
  static let classes =
    cells.flatMap { $0.classes } + [
      SourceLayer(
        "RNN", becomes: "the layer of the cell; StackedRNNCells become \(SourceLayer.unrolled)",
        options: "`cell` SimpleRNNCell, GRUCell, LSTMCell, StackedRNNCells", refused: "other cells")
    ]
  static let maskPolicy = MaskPolicy.decides

  private static let cells: [any RecurrentCell.Type] = [
    SimpleRNNCell.self, GRUCell.self, LSTMCell.self,
  ]

  let cell: any RecurrentCell
  var path: RecurrentPath

  /// The maximum number of unrolled steps.
  private static let stepLimit = 4096
  /// The maximum number of steps to unroll if Core ML has a layer but clips its states.
  private static let unclippedSteps = 256
  /// The maximum number of weights in all unrolled steps.
  private static let weightLimit = 1 << 28

  init(_ configuration: LayerConfiguration) throws {
    let type = Self.cells.first { $0.classes.contains { $0.names.contains(configuration.kind) } }
    if let type {
      cell = try type.init(configuration)
    } else {
      cell = try configuration.recurrentCell("cell")
    }
    path = try RecurrentPath(configuration)
  }

  var weights: [WeightSlot] { cell.weights }

  func convert(_ call: LayerCall, into network: inout KerasWriter) throws -> [KerasTensor] {
    let (input, initial) = try call.sequence(&network, states: cell.states.count)
    let weights = CellWeights(call: call, inputs: input.isShapeAssumed ? nil : input.channels)
    var (output, states, _) = try add(
      input, weights, Names(layer: call.name, states: network.stateName(call.name)),
      initial: initial, to: &network)
    if path.returnsSequences { output.mask = call.inputs[0].mask }
    return [output] + (path.returnsState ? states : [])
  }

  /// Names of the layer and its states in the Core ML model.
  struct Names {
    var layer: String
    /// The states are `NAME_h_in` and `NAME_h_out`.
    var states: String
    var stateSuffix = ""
  }

  /// Adds the layer.
  ///
  /// - Parameter initial: the blobs of the initial states; nil makes them optional inputs of the
  ///   model, as in coremltools.
  func add(
    _ input: KerasTensor, _ weights: CellWeights, _ names: Names, initial: [String]?,
    to network: inout KerasWriter
  ) throws -> (output: KerasTensor, states: [KerasTensor], initial: [String]) {
    let call = weights.call
    let initialStates =
      initial
      ?? cell.states.map {
        network.addStateInput("\(names.states)_\($0.name)_in\(names.stateSuffix)", units: $0.units)
      }
    let stateNames = cell.states.map { "\(names.states)_\($0.name)_out\(names.stateSuffix)" }
    var output = path.output(input, units: cell.units)
    var states: [String]
    if input.mask == nil, !unclips(input, call), let layer = try cell.native(weights, path, network)
    {
      noteClip(call, &network)
      let blobs = network.add(
        names.layer, layer, [input.blob] + initialStates, states: stateNames, units: cell.units)
      output.blob = blobs[0]
      states = Array(blobs.dropFirst())
    } else {
      let canUnroll = Self.canUnroll(input, call)
      let isPlain =
        input.mask == nil || initial == nil && (path.returnsSequences || !path.zeroesIgnored)
      if !canUnroll, isPlain, let phased = try cell.phased(weights) {
        (output.blob, states) = try network.add(
          phased, input, path, initial: initialStates, names.layer)
        if path.zeroesIgnored, let mask = input.mask {
          var counts = network.steps(of: mask).blob
          if path.isReversed {
            counts = try network.reversed(
              counts, channels: 1, beside: (initialStates[0], cell.states[0].units),
              names.layer + "__reversed__")
          }
          output.blob = network.product(output.blob, counts, names.layer + "__counted__")
        }
      } else {
        (output.blob, states) = try unrolled(
          input, weights, names, initialStates, isInitialGiven: initial != nil, call, &network)
      }
      for (name, (blob, state)) in zip(stateNames, zip(states, cell.states)) {
        network.addStateOutput(blob, name, units: state.units)
      }
    }
    return (
      output,
      zip(states, cell.states).map {
        KerasTensor(blob: $0, shape: [input.shape[0], $1.units], layout: .vector)
      },
      initialStates
    )
  }

  /// Whether the layer is unrolled only because Core ML's layer clips its states.
  func unclips(_ input: KerasTensor, _ call: LayerCall) -> Bool {
    cell.isClipped && Self.canUnroll(input, call) && (input.shape[1] ?? 0) <= Self.unclippedSteps
  }

  /// Adds a note if Core ML's layer clips the states.
  func noteClip(_ call: LayerCall, _ network: inout KerasWriter) {
    guard cell.isClipped else { return }
    network.notes.append(
      "layer '\(call.name)' (\(call.className)): Core ML clips its states to ±50, "
        + "but Keras does not. With at most \(Self.unclippedSteps) steps, which \(setting: "inputShape") "
        + "can set, it is unrolled and exact")
  }

  /// Whether the file stays reasonably small if the steps are unrolled.
  private static func canUnroll(_ input: KerasTensor, _ call: LayerCall) -> Bool {
    guard let count = input.shape[1], !input.isShapeAssumed, count <= stepLimit else {
      return false
    }
    let stored = call.weights.reduce(0) { $0 + $1.shape.reduce(1, *) }
    return stored <= weightLimit / count
  }

  /// Adds separate layers for each step.
  private func unrolled(
    _ input: KerasTensor, _ weights: CellWeights, _ names: Names, _ initial: [String],
    isInitialGiven: Bool, _ call: LayerCall, _ network: inout KerasWriter
  ) throws -> (output: String, states: [String]) {
    guard let count = input.shape[1], !input.isShapeAssumed else {
      throw call.unsupported(
        "Core ML has no layer for it, so it must be unrolled, but the number of steps is "
          + "unknown, \(input.shapeText)", hint: "fix it with \(setting: "inputShape")")
    }
    try call.require(
      Self.canUnroll(input, call),
      "unrolling its \(count) steps would store the weights in every step, and the file "
        + "would become too large", code: .limitExceeded)
    let steps = try cell.steps(weights)
    var prepared = input
    prepared.blob = try steps.prepare(input.blob, names.layer + "__inputs__", &network)
    prepared.mask = nil
    let rows = network.relaid(prepared, to: .steps, for: names.layer).blob
    let mask = input.mask.map { mask in
      let steps = network.steps(of: mask)
      return network.relaid(steps, to: .steps, for: names.layer).blob
    }
    var states = initial
    var outputs: [String] = []
    for position in 0..<count {
      let time = path.isReversed ? count - 1 - position : position
      let name = "\(names.layer)__step_\(position)__"
      func row(_ blob: String, _ suffix: String) -> String {
        count == 1 ? blob : network.slice(blob, time..<time + 1, of: .width, name + suffix)
      }
      var next = try steps.step(row(rows, "x"), states, name, &network)
      var output = next[cell.outputState]
      if let mask {
        // Masked steps leave the states unchanged.
        let counts = row(mask, "mask")
        next = zip(next, states).enumerated().map { index, pair in
          let change = network.difference(pair.0, pair.1, "\(name)change_\(index)")
          let kept = network.product(change, counts, "\(name)masked_\(index)")
          return network.sum([pair.1, kept], "\(name)state_\(index)")
        }
        if path.zeroesIgnored {
          output = network.product(output, counts, name + "counted")
        } else if !isInitialGiven {
          output = next[cell.outputState]
        } else if let last = outputs.last {
          let change = network.difference(output, last, name + "outchange")
          let kept = network.product(change, counts, name + "outmasked")
          output = network.sum([last, kept], name + "counted")
        } else {
          output = network.product(output, counts, name + "counted")
        }
      }
      states = next
      outputs.append(output)
    }
    let result =
      path.returnsSequences
      ? network.joined(outputs, alongSequence: true, names.layer)
      : network.add(names.layer, Activation(.linear(alpha: 1, beta: 0)), [outputs[count - 1]])
    return (result, states)
  }
}

extension LayerCall {
  /// The input sequence of a recurrent layer, and its initial states if there are any. Keras 3
  /// passes the mask of the sequence to a call with several tensors only if the call states it.
  func sequence(
    _ network: inout KerasWriter, states: Int
  ) throws -> (input: KerasTensor, initial: [String]?) {
    guard var input = inputs.first else { throw error("it has no inputs") }
    guard input.rank == 3 else { throw error("its input \(input.shapeText) is not a sequence") }
    let given = inputs.count - 1
    guard given == 0 || given == states else {
      throw error("it takes \(states) initial states but gets \(given)")
    }
    if given > 0, !isMaskPassed, version.isAtLeast(3, 0) { input.mask = nil }
    let initial =
      given == 0 ? nil : inputs.dropFirst().map { network.relaid($0, to: .vector, for: name).blob }
    return (network.standard(input, for: name), initial)
  }
}
