import CoreMLModel
import ImportSupport
import TensorCore

extension CaffeLayerType {
  /// A layer with time and stream axes, which are Core ML's sequence and batch.
  private static func recurrent(
    _ source: SourceLayer, convert: @escaping Conversion
  ) -> CaffeLayerType {
    CaffeLayerType(source, convert: convert).withInputAxes { _, index, shape in
      switch shape.count {
      case 2 where index == 1 || index == 0: [0, 1]
      case 3: [0, 1, 2]
      default: nil
      }
    }.withBatchAxis { layer, batch in
      // Bottoms are (T, N, …), except the third, static one: (N, …).
      let isEach = layer.inputs.enumerated().allSatisfy { index, input in
        input.batch?.size == batch.size
          && (input.batch?.axis == 1 || index == 2 && input.batch?.axis == 0)
      }
      return isEach ? 1 : nil
    }
  }

  /// i, f, o = sigmoid, g = tanh of W x + b + R · (cont · h); c = cont · f · c + i · g; h = o · tanh(c)
  static let lstm = recurrent(
    SourceLayer(
      "LSTM",
      becomes:
        "innerProduct; for each step slices, innerProduct, sigmoid, tanh, products and sums; concat "
        + "along the sequence",
      options:
        "`num_output`, `expose_hidden`; `cont` is respected, which uniDirectionalLSTM cannot do; a "
        + "third, static bottom", refused: "more than 2,048 steps")
  ) { layer, network in
    let recurrence = try Recurrence(layer, stateCount: 2, gates: 4)
    return try recurrence.tops(&network) { network, sums, states, flag, name in
      let (h, c) = network.lstmUnit(
        LSTMStep(sums: sums, units: recurrence.units, cell: states.last, cont: flag), name)
      return (h, [h, c])
    }
  }

  /// h = tanh(W x + b + R · (cont · h)); o = tanh(Q h + q)
  static let rnn = recurrent(
    SourceLayer(
      "RNN",
      becomes:
        "innerProduct, and for each step a slice, two innerProducts, sums and tanh; concat along the "
        + "sequence", options: "`num_output`, `expose_hidden`, `cont`; a third, static bottom",
      refused: "more than 2,048 steps")
  ) { layer, network in
    let recurrence = try Recurrence(layer, stateCount: 1, gates: 1)
    let (units, first) = (recurrence.units, recurrence.matrix + 1)
    let matrix = Weights(try layer.weight(first, "output weight", shape: [units, units]))
    let bias = Weights(try layer.weight(first + 1, "output bias", shape: [units]))
    return try recurrence.tops(&network) { network, sums, _, _, name in
      let hidden = network.add(name + "_hidden", Activation(.tanh), [sums])
      let output = network.matrixProduct(
        hidden, matrix, inputs: units, outputs: units, bias: bias, name + "_output_product")
      return (network.add(name + "_tanh", Activation(.tanh), [output]), [hidden])
    }
  }

  /// One step of an LSTM.
  static let lstmUnit = recurrent(
    SourceLayer(
      "LSTMUnit", becomes: "split, activation sigmoid and tanh, products and a sum",
      options: "`cont` is respected")
  ) { layer, network in
    try layer.requireBottoms(3...3)
    let shape = layer.inputs[0].shape
    try layer.require(
      shape.count == 3 && shape[0] == 1 && layer.tops.count == 2
        && layer.inputs[1].shape == [1, shape[1], 4 * shape[2]]
        && layer.inputs[2].shape == [1, shape[1]],
      "its bottoms have the shapes \(layer.inputs.map(\.shapeText).joined(separator: ", ")); (1, N, D), "
        + "(1, N, 4 · D) and (1, N) are needed")
    let cell = network.blob(of: layer.inputs[0], axes: [0, 1, 2], layer)
    let sums = network.blob(of: layer.inputs[1], axes: [0, 1, 2], layer)
    let cont = network.blob(of: layer.inputs[2], axes: [0, 1], layer)
    let states = network.lstmUnit(
      LSTMStep(sums: sums, units: shape[2], cell: cell, cont: cont), layer.name,
      outputs: (h: layer.tops[1], c: layer.tops[0]))
    return [states.c, states.h].map { CaffeTensor($0, shape, axes: [0, 1, 2]) }
  }
}

/// The part shared by Caffe's recurrent layers: `cont[t, n]` is 0 where a sequence starts. Steps
/// are unrolled, because Core ML's recurrent layers have no such input.
struct Recurrence {
  let layer: LayerCall
  let units: Int
  let steps: Int
  let streams: Int
  /// The number of sums: the rows of the input weights.
  let sums: Int
  /// The bottoms: x (T, N, …), cont (T, N), x_static (N, …) or nil, and the initial states.
  let x: CaffeTensor
  let cont: CaffeTensor
  let fixed: CaffeTensor?
  let states: [CaffeTensor]

  /// - Parameter stateCount: the number of states that `expose_hidden` exposes.
  init(_ layer: LayerCall, stateCount: Int, gates: Int) throws {
    self.layer = layer
    let inputs = layer.inputs
    let parameters = layer.parameters("recurrent_param")
    units = try parameters.int("num_output", atLeast: 1)
    sums = try checkedProduct([units, gates], limit: Limits.dimension)
    let shown = try parameters.bool("expose_hidden") ? stateCount : 0
    try layer.requireBottoms(2 + shown...3 + shown)
    let (x, cont) = (inputs[0], inputs[1])
    let states = inputs.suffix(shown)
    try layer.require(
      x.shape.count >= 2 && cont.shape == Array(x.shape.prefix(2)),
      "its bottoms have the shapes \(x.shapeText) and \(cont.shapeText); (T, N, …) and (T, N) are "
        + "needed")
    let steps = x.shape[0]
    let expected = [1, x.shape[1], units]
    try layer.require(
      states.allSatisfy { $0.shape == expected },
      "its states have the shapes \(states.map(\.shapeText).joined(separator: ", ")), "
        + "expected \(expected)")
    try layer.require(
      steps <= Limits.writtenOutSteps, unsupported: "unrolling would give \(steps) steps",
      hint: "the limit is \(Limits.writtenOutSteps)")
    try layer.require(
      layer.tops.count == 1 + shown,
      "it has \(layer.tops.count) tops, \(1 + shown) are needed", field: "top")
    (self.x, self.cont, self.steps) = (x, cont, steps)
    streams = x.shape[1]
    fixed = inputs.count > 2 + shown ? inputs[2] : nil
    self.states = Array(states)
  }

  /// The index of the recurrent matrix among the layer's weights; that of the static bottom
  /// precedes it.
  var matrix: Int { fixed == nil ? 2 : 3 }

  /// The layer's tops.
  ///
  /// - Parameter compute: returns a step's result and new states, h first, from the sums W · x + b
  ///   + R · h, the previous states, the `cont` flag and a name. The states are empty and the flag
  ///   is nil if the states are zeros.
  func tops(
    _ network: inout CaffeWriter,
    compute: (inout CaffeWriter, String, [String], String?, String) -> (String, [String])
  ) throws -> [CaffeTensor] {
    let products = try products(&network)
    let matrix = Weights(try layer.weight(matrix, "recurrent weight", shape: [sums, units]))
    var states = states.map {
      network.placed(
        network.five($0, for: layer.name), axes: [0, 1, 2], for: layer.part("state")
      ).blob
    }
    let flags = states.isEmpty && steps == 1 ? [] : flags(&network)
    var results: [String] = []
    for step in 0..<steps {
      let name = layer.part("step\(step)")
      var sums = products[step]
      if let h = states.first {
        let kept = network.product(h, flags[step], name + "_h")
        let product = network.matrixProduct(
          kept, matrix, inputs: units, outputs: self.sums, name + "_product")
        sums = network.sum([sums, product], name + "_sums")
      }
      let result: String
      (result, states) = compute(&network, sums, states, states.isEmpty ? nil : flags[step], name)
      results.append(result)
    }
    return [sequence(results, &network)] + finalStates(states, &network)
  }

  /// W · x + b for every step, plus the static bottom's part: one blob with `sums` channels per
  /// step.
  private func products(_ network: inout CaffeWriter) throws -> [String] {
    let inputs = try x.count(2..<x.shape.count)
    let vectors = try self.vectors(x, leading: 2, axes: [0, 1, 2], "x", &network)
    let matrix = try layer.weight(0, "weight", shape: [sums, inputs])
    let bias = try layer.weight(1, "bias", shape: [sums])
    var blob = network.matrixProduct(
      vectors, Weights(matrix), inputs: inputs, outputs: sums, bias: Weights(bias),
      layer.part("x_product"))
    let tensor = CaffeTensor(blob, [steps, streams, sums], axes: [0, 1, 2])
    blob = network.placed(tensor, axes: [4, 1, 2], for: layer.part("steps")).blob
    if let fixed {
      try layer.require(
        fixed.shape.first == streams,
        "its third bottom is \(fixed.shapeText); expected (\(streams), …)")
      let count = try fixed.count(1..<fixed.shape.count)
      let vectors = try self.vectors(fixed, leading: 1, axes: [1, 2], "x_static", &network)
      let matrix = try layer.weight(2, "static weight", shape: [sums, count])
      let product = network.matrixProduct(
        vectors, Weights(matrix), inputs: count, outputs: sums, layer.part("static_product"))
      blob = network.sum([blob, product], layer.part("x_sum"))
    }
    return slices(blob, "x", &network)
  }

  /// `cont` for every step.
  private func flags(_ network: inout CaffeWriter) -> [String] {
    let flags = network.placed(
      network.five(cont, for: layer.name), axes: [4, 1], for: layer.part("cont"))
    return slices(flags.blob, "cont", &network)
  }

  /// The results of all steps, concatenated: the first top.
  private func sequence(_ blobs: [String], _ network: inout CaffeWriter) -> CaffeTensor {
    let blob =
      blobs.count == 1
      ? network.add(layer.name, Activation(.linear(alpha: 1, beta: 0)), blobs, to: layer.tops[0])
      : network.joined(blobs, alongSequence: true, layer.name, to: layer.tops[0])
    return CaffeTensor(blob, [steps, streams, units], axes: [0, 1, 2])
  }

  /// The states after the last step: the other tops.
  private func finalStates(_ blobs: [String], _ network: inout CaffeWriter) -> [CaffeTensor] {
    zip(blobs, layer.tops.dropFirst()).enumerated().map { index, pair in
      CaffeTensor(
        network.add(
          layer.part("state\(index)"), Activation(.linear(alpha: 1, beta: 0)), [pair.0],
          to: pair.1),
        [1, streams, units], axes: [0, 1, 2])
    }
  }

  private func vectors(
    _ tensor: CaffeTensor, leading: Int, axes: [Int], _ name: String,
    _ network: inout CaffeWriter
  ) throws -> String {
    var input = network.five(tensor, for: layer.name)
    if input.shape.count != axes.count {
      let count = try tensor.count(leading..<tensor.shape.count)
      input = try network.reshaped(
        input, to: Array(tensor.shape.prefix(leading)) + [count], layer,
        name: layer.part("\(name)_vectors"))
    }
    return network.placed(input, axes: axes, for: layer.part(name)).blob
  }

  private func slices(_ blob: String, _ name: String, _ network: inout CaffeWriter) -> [String] {
    if steps == 1 { return [blob] }
    return (0..<steps).map {
      network.slice(blob, $0..<$0 + 1, of: .width, layer.part("\(name)\($0)"))
    }
  }
}

private struct LSTMStep {
  /// i, f, o and g before their activation functions, concatenated.
  var sums: String
  var units: Int
  /// The previous state; without one, 0 is used.
  var cell: String?
  var cont: String?
}

extension CaffeWriter {
  /// The states after one step.
  fileprivate mutating func lstmUnit(
    _ step: LSTMStep, _ name: String, outputs: (h: String, c: String)? = nil
  ) -> (h: String, c: String) {
    let (sums, units) = (step.sums, step.units)
    let inner = slice(sums, 0..<3 * units, name + "_ifo")
    let gates = split(
      add(name + "_gates", Activation(.sigmoid), [inner]), into: 3, name + "_split")
    let block = add(
      name + "_g", Activation(.tanh), [slice(sums, 3 * units..<4 * units, name + "_block")])
    let isFresh = step.cell == nil
    var c = add(name + "_new", Multiply(), [gates[0], block], to: isFresh ? outputs?.c : nil)
    if let cell = step.cell {
      var kept = product(gates[1], cell, name + "_kept")
      if let cont = step.cont { kept = product(kept, cont, name + "_continued") }
      c = sum([kept, c], name + "_c", to: outputs?.c)
    }
    let activated = add(name + "_tanh", Activation(.tanh), [c])
    return (product(gates[2], activated, name + "_out", to: outputs?.h), c)
  }
}
