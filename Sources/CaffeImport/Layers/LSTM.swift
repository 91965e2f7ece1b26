import CoreMLModel
import ImportSupport
import TensorCore

/// i, f, o = sigmoid, g = tanh of W x + b + R · (cont · h); c = cont · f · c + i · g; h = o · tanh(c)
enum LSTM: RecurrentConverter {
  static let source = SourceLayer(
    "LSTM",
    becomes:
      "innerProduct; for each step slices, innerProduct, sigmoid, tanh, products and sums; concat "
      + "along the sequence",
    options:
      "`num_output`, `expose_hidden`; `cont` is respected, which uniDirectionalLSTM cannot do; a "
      + "third, static bottom", refused: "more than 2,048 steps")

  static func convert(_ layer: LayerCall, _ network: inout CaffeWriter) throws -> [CaffeTensor] {
    let recurrence = try Recurrence(layer, stateCount: 2, gates: 4)
    return try recurrence.tops(&network) { network, sums, states, flag, name in
      let (h, c) = network.lstmUnit(
        LSTMStep(sums: sums, units: recurrence.units, cell: states.last, cont: flag), name)
      return (h, [h, c])
    }
  }
}

/// h = tanh(W x + b + R · (cont · h)); o = tanh(Q h + q)
enum RNNLayer: RecurrentConverter {
  static let source = SourceLayer(
    "RNN",
    becomes:
      "innerProduct, and for each step a slice, two innerProducts, sums and tanh; concat along the "
      + "sequence", options: "`num_output`, `expose_hidden`, `cont`; a third, static bottom",
    refused: "more than 2,048 steps")

  static func convert(_ layer: LayerCall, _ network: inout CaffeWriter) throws -> [CaffeTensor] {
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
}

/// One step of an LSTM.
enum LSTMUnit: RecurrentConverter {
  static let source = SourceLayer(
    "LSTMUnit", becomes: "split, activation sigmoid and tanh, products and a sum",
    options: "`cont` is respected")

  static func convert(_ layer: LayerCall, _ network: inout CaffeWriter) throws -> [CaffeTensor] {
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
