import Interpretation
import LibC
import TensorCore

extension CaffeOperations {
  static let recurrences: [String: CaffeOperation] = [
    "LSTM": CaffeOperation(bottoms: 2...5) {
      try Recurrence($0, states: 2, gates: 4).longShortTermMemory()
    },
    "RNN": CaffeOperation(bottoms: 2...4) { try Recurrence($0, states: 1, gates: 1).simple() },
    "LSTMUnit": CaffeOperation(bottoms: 3...3) { layer in
      let (c, x, cont) = (layer.bottoms[0], layer.bottoms[1], layer.bottoms[2])
      try layer.require(
        c.rank == 3 && x.count == 4 * c.count && cont.count * c.shape[2] == c.count,
        "its bottoms have the shapes \(c.shape), \(x.shape) and \(cont.shape)")
      let (cell, hidden) = unit(c.values, x.values, cont.values, units: c.shape[2])
      return [DoubleArray(shape: c.shape, cell), DoubleArray(shape: c.shape, hidden)]
    },
  ]

  /// lstm_unit_layer.cpp: the gates are in the order i, f, o, g.
  fileprivate static func unit(
    _ c: [Double], _ x: [Double], _ cont: [Double], units: Int
  ) -> (c: [Double], h: [Double]) {
    var cell = c
    var hidden = c
    for index in c.indices {
      let (stream, unit) = (index / units, index % units)
      let gate = { x[(4 * stream + $0) * units + unit] }
      let forgotten = cont[stream] == 0 ? 0 : cont[stream] * sigmoid(gate(1)) * c[index]
      cell[index] = forgotten + sigmoid(gate(0)) * tanh(gate(3))
      hidden[index] = sigmoid(gate(2)) * tanh(cell[index])
    }
    return (cell, hidden)
  }
}

/// recurrent_layer.cpp: x (T, N, …), cont (T, N), optionally a static bottom (N, …), and, if they
/// are exposed, the states (1, N, D).
private struct Recurrence {
  let layer: LayerRun
  let units: Int
  let sums: Int
  let steps: Int
  let streams: Int
  let states: [[Double]]
  let showsStates: Bool
  /// W · x + b for each step and stream, plus the static part.
  var products: [Double]
  let recurrent: [Double]
  /// The index of the weight after the recurrent one.
  let next: Int

  init(_ layer: LayerRun, states stateCount: Int, gates: Int) throws {
    self.layer = layer
    let settings = layer.settings("recurrent_param")
    units = try settings.size("num_output")
    sums = try checkedProduct([units, gates], limit: Limits.dimension)
    showsStates = try settings.bool("expose_hidden")
    let shown = showsStates ? stateCount : 0
    let (x, cont) = (layer.bottoms[0], layer.bottoms[1])
    try layer.require(
      x.rank >= 2 && cont.count == x.count(0..<2)
        && [2 + shown, 3 + shown].contains(layer.bottoms.count),
      "it has \(layer.bottoms.count) bottoms, the first of the shape \(x.shape)")
    (steps, streams) = (x.shape[0], x.shape[1])
    let fixed = layer.bottoms.count == 3 + shown ? layer.bottoms[2] : nil
    let (streams, units) = (streams, units)
    states =
      showsStates
      ? layer.bottoms.suffix(shown).map(\.values)
      : [[Double]](repeating: [Double](repeating: 0, count: streams * units), count: stateCount)
    try layer.require(
      states.allSatisfy { $0.count == streams * units }, "its states have other sizes")
    let bias = try layer.weight(1, shape: [sums]).values
    let weights = try layer.weight(0, shape: [sums, x.count(2..<x.rank)])
    products = Self.product(x.values, weights, rows: steps * streams)
    for index in products.indices { products[index] += bias[index % sums] }
    if let fixed {
      try layer.require(fixed.rank >= 1 && fixed.shape[0] == streams, "its static bottom's shape")
      let weights = try layer.weight(2, shape: [sums, fixed.count / max(1, streams)])
      let part = Self.product(fixed.values, weights, rows: streams)
      for index in products.indices { products[index] += part[index % part.count] }
    }
    next = fixed == nil ? 3 : 4
    recurrent = try layer.weight(next - 1, shape: [sums, units]).values
  }

  /// X · Wᵀ
  static func product(_ x: [Double], _ weights: DoubleArray, rows: Int) -> [Double] {
    let (outputs, width) = (weights.shape[0], weights.shape[1])
    var result = [Double](repeating: 0, count: rows * outputs)
    for row in 0..<rows {
      for output in 0..<outputs {
        var sum = 0.0
        for column in 0..<width {
          sum += x[row * width + column] * weights.values[output * width + column]
        }
        result[row * outputs + output] = sum
      }
    }
    return result
  }

  /// W · x + b + R · (cont · h) for one step.
  private func gates(_ step: Int, _ hidden: [Double], _ cont: [Double]) -> [Double] {
    let kept = hidden.enumerated().map { cont[$0.offset / units] * $0.element }
    let part = Self.product(
      kept, DoubleArray(shape: [sums, units], recurrent), rows: streams)
    let start = step * streams * sums
    return part.indices.map { part[$0] + products[start + $0] }
  }

  private func flags(_ step: Int) -> [Double] {
    Array(layer.bottoms[1].values[step * streams..<(step + 1) * streams])
  }

  private func tops(_ sequence: [Double], _ states: [[Double]]) -> [DoubleArray] {
    [DoubleArray(shape: [steps, streams, units], sequence)]
      + (showsStates ? states.map { DoubleArray(shape: [1, streams, units], $0) } : [])
  }

  /// lstm_layer.cpp
  func longShortTermMemory() throws -> [DoubleArray] {
    var (h, c) = (states[0], states[1])
    var sequence: [Double] = []
    for step in 0..<steps {
      let cont = flags(step)
      (c, h) = CaffeOperations.unit(c, gates(step, h, cont), cont, units: units)
      sequence += h
    }
    return tops(sequence, [h, c])
  }

  /// rnn_layer.cpp: h = tanh(…), o = tanh(W h + b)
  func simple() throws -> [DoubleArray] {
    let weights = try layer.weight(next, shape: [units, units])
    let bias = try layer.weight(next + 1, shape: [units]).values
    var h = states[0]
    var sequence: [Double] = []
    for step in 0..<steps {
      h = gates(step, h, flags(step)).map { tanh($0) }
      let output = Self.product(h, weights, rows: streams)
      sequence += output.enumerated().map { tanh($0.element + bias[$0.offset % units]) }
    }
    return tops(sequence, [h])
  }
}
