import CoreMLModel
import ImportSupport
import TensorCore

/// i, f, o = sigmoid, g = tanh of W x + b + R · (cont · h); c = cont · f · c + i · g; h = o · tanh(c)
enum LSTM: CaffeLayerConverter {
  static let typeNames = ["LSTM"]
  static let documentation = DocumentationRow(
    "innerProduct, and for each step slices, innerProduct, sigmoid, tanh, products and sums; concat "
      + "along the sequence",
    options:
      "`num_output`, `expose_hidden`; `cont` counts, which is why this is not uniDirectionalLSTM; a "
      + "third, static bottom",
    refused: "more than 2,048 steps")

  static func inputAxes(_ layer: CaffeLayer, bottom index: Int, shape: [Int]) -> [Int]? {
    recurrentAxes(bottom: index, shape: shape)
  }

  static func convert(
    _ layer: CaffeLayer, inputs: [CaffeTensor], into network: inout CaffeNetworkWriter
  ) throws -> [CaffeTensor] {
    let recurrence = try Recurrence(layer, inputs, stateCount: 2, gates: 4)
    let units = recurrence.units
    let fixed = recurrence.fixed == nil ? 0 : 1
    let products = try recurrence.products(fixedWeight: 2, &network)
    let matrix = Weights(
      try layer.weight(2 + fixed, "recurrent weight", shape: [4 * units, units]))
    let initial = recurrence.initialStates(&network)
    let isFresh = initial.isEmpty
    let flags = isFresh && recurrence.steps == 1 ? [] : recurrence.flags(&network)
    var states = isFresh ? nil : (h: initial[0], c: initial[1])
    var results: [String] = []
    for step in 0..<recurrence.steps {
      let name = layer.part("step\(step)")
      var sums = products[step]
      if let states {
        let kept = network.product(states.h, flags[step], name + "_h")
        let product = network.matrixProduct(
          kept, matrix, inputs: units, outputs: 4 * units, name + "_product")
        sums = network.sum([sums, product], name + "_sums")
      }
      states = network.lstmUnit(
        sums, units: units, cell: states?.c, cont: states == nil ? nil : flags[step], name)
      if let states { results.append(states.h) }
    }
    let last = states.map { [$0.h, $0.c] } ?? []
    return [recurrence.sequence(results, &network)]
      + recurrence.finalStates(last, &network)
  }
}

/// h = tanh(W x + b + R · (cont · h)); o = tanh(Q h + q)
enum RNNLayer: CaffeLayerConverter {
  static let typeNames = ["RNN"]
  static let documentation = DocumentationRow(
    "innerProduct, and for each step a slice, two innerProducts, sums and tanh; concat along the "
      + "sequence",
    options: "`num_output`, `expose_hidden`, `cont`; a third, static bottom",
    refused: "more than 2,048 steps")

  static func inputAxes(_ layer: CaffeLayer, bottom index: Int, shape: [Int]) -> [Int]? {
    recurrentAxes(bottom: index, shape: shape)
  }

  static func convert(
    _ layer: CaffeLayer, inputs: [CaffeTensor], into network: inout CaffeNetworkWriter
  ) throws -> [CaffeTensor] {
    let recurrence = try Recurrence(layer, inputs, stateCount: 1, gates: 1)
    let units = recurrence.units
    let first = recurrence.fixed == nil ? 2 : 3
    let products = try recurrence.products(fixedWeight: 2, &network)
    let matrix = Weights(
      try layer.weight(first, "recurrent weight", shape: [units, units]))
    let outputMatrix = Weights(
      try layer.weight(first + 1, "output weight", shape: [units, units]))
    let outputBias = Weights(try layer.weight(first + 2, "output bias", shape: [units]))
    var state = recurrence.initialStates(&network).first
    let flags = state == nil && recurrence.steps == 1 ? [] : recurrence.flags(&network)
    var results: [String] = []
    for step in 0..<recurrence.steps {
      let name = layer.part("step\(step)")
      var sums = products[step]
      if let state {
        let kept = network.product(state, flags[step], name + "_h")
        let product = network.matrixProduct(
          kept, matrix, inputs: units, outputs: units, name + "_product")
        sums = network.sum([sums, product], name + "_sums")
      }
      let hidden = network.add(name + "_hidden", Activation(.tanh), [sums])
      let output = network.matrixProduct(
        hidden, outputMatrix, inputs: units, outputs: units, bias: outputBias,
        name + "_output_product")
      results.append(network.add(name + "_tanh", Activation(.tanh), [output]))
      state = hidden
    }
    return [recurrence.sequence(results, &network)]
      + recurrence.finalStates(state.map { [$0] } ?? [], &network)
  }
}

/// One step of an LSTM.
enum LSTMUnit: CaffeLayerConverter {
  static let typeNames = ["LSTMUnit"]
  static let documentation = DocumentationRow(
    "split, activation sigmoid and tanh, products and a sum", options: "`cont` counts")

  static func inputAxes(_ layer: CaffeLayer, bottom index: Int, shape: [Int]) -> [Int]? {
    recurrentAxes(bottom: index, shape: shape)
  }

  static func convert(
    _ layer: CaffeLayer, inputs: [CaffeTensor], into network: inout CaffeNetworkWriter
  ) throws -> [CaffeTensor] {
    try layer.requireBottoms(3...3)
    let shape = inputs[0].shape
    guard shape.count == 3, shape[0] == 1, layer.tops.count == 2,
      inputs[1].shape == [1, shape[1], 4 * shape[2]], inputs[2].shape == [1, shape[1]]
    else {
      throw layer.error(
        "its bottoms have the shapes \(inputs.map(\.shapeText).joined(separator: ", ")); (1, N, D), "
          + "(1, N, 4 · D) and (1, N) are needed")
    }
    func placed(_ index: Int, _ axes: [Int]) -> String {
      network.placed(network.five(inputs[index], for: layer.name), axes: axes, for: layer.name)
        .blob
    }
    let cell = placed(0, [0, 1, 2])
    let sums = placed(1, [0, 1, 2])
    let cont = placed(2, [0, 1])
    let states = network.lstmUnit(
      sums, units: shape[2], cell: cell, cont: cont, layer.name,
      outputs: (h: layer.tops[1], c: layer.tops[0]))
    return [states.c, states.h].map { CaffeTensor($0, shape, axes: [0, 1, 2]) }
  }
}

/// Time and streams of a recurrent layer's bottoms where Core ML has the sequence and the batch.
private func recurrentAxes(bottom index: Int, shape: [Int]) -> [Int]? {
  switch shape.count {
  case 2 where index == 1 || index == 0: [0, 1]
  case 3: [0, 1, 2]
  default: nil
  }
}

extension CaffeNetworkWriter {
  /// The states behind one step; the cell before it is 0 where there is none.
  ///
  /// - Parameter sums: i, f, o and g before their functions, one after the other.
  fileprivate mutating func lstmUnit(
    _ sums: String, units: Int, cell: String?, cont: String?, _ name: String,
    outputs: (h: String, c: String)? = nil
  ) -> (h: String, c: String) {
    let inner = slice(sums, 0..<3 * units, name + "_ifo")
    let gates = split(
      add(name + "_gates", Activation(.sigmoid), [inner]), into: 3, name + "_split")
    let block = add(
      name + "_g", Activation(.tanh), [slice(sums, 3 * units..<4 * units, name + "_block")])
    let isFresh = cell == nil
    var c = add(
      name + "_new", Multiply(), [gates[0], block], to: isFresh ? outputs?.c : nil)
    if let cell {
      var kept = product(gates[1], cell, name + "_kept")
      if let cont { kept = product(kept, cont, name + "_continued") }
      c = sum([kept, c], name + "_c", to: outputs?.c)
    }
    let activated = add(name + "_tanh", Activation(.tanh), [c])
    return (product(gates[2], activated, name + "_out", to: outputs?.h), c)
  }
}
