import Interpretation
import TensorCore

/// SimpleRNN, LSTM and GRU.
enum Recurrences {
  static let operations: [String: KerasOperations.Operation] = [
    "SimpleRNN": run, "LSTM": run, "GRU": run, "RNN": cell, "CuDNNLSTM": cuDNN, "CuDNNGRU": cuDNN,
  ]

  /// Runs an RNN layer with the settings of its cell and the layer's own.
  private static func cell(_ run: LayerRun) throws -> [KerasValue] {
    let names = ["SimpleRNNCell", "LSTMCell", "GRUCell"]
    guard let cell = run.field("cell"), var fields = cell["config"]?.object,
      names.contains(ClassIdentity.name(cell))
    else { throw run.missing("its cell is not interpreted") }
    for field in ["return_sequences", "go_backwards", "zero_output_for_mask"] {
      fields[field] = .bool(run.bool(field))
    }
    var inner = run
    inner.className = String(ClassIdentity.name(cell).dropLast(4))
    inner.fields = .object(fields)
    return try Self.run(inner)
  }

  /// cuDNN's kernels are transposed per gate: Keras's kernel is `K.reshape(units, in)ᵀ`, and `Kᵀ`
  /// for the state. The gates are in Keras's order, and the reset applies after the product.
  private static func cuDNN(_ run: LayerRun) throws -> [KerasValue] {
    var inner = run
    inner.className = String(run.className.dropFirst(5))
    inner.fields = run.fields
    if var fields = run.fields.object {
      fields["reset_after"] = .bool(true)
      inner.fields = .object(fields)
    }
    let gates = inner.className == "LSTM" ? 4 : 3
    for index in 0..<2 {
      let kernel = try run.weight(index, rank: 2)
      try run.require(kernel.shape[1] % gates == 0, "a kernel of shape \(kernel.shape)")
      let units = kernel.shape[1] / gates
      inner.weights[index] = DoubleArray.concatenated(
        try (0..<gates).map { gate in
          try kernel.slice(1, gate * units..<(gate + 1) * units)
            .reshaped([units, kernel.shape[0]]).transposed([1, 0])
        }, axis: 1)
    }
    return try Self.run(inner)
  }

  /// Weights in Keras 2's layout: `[in, gates · units]`, `[units, gates · units]`, bias.
  private struct Cell {
    let kind: String
    let units: Int
    let kernel: DoubleArray
    let recurrent: DoubleArray
    /// The biases of the input's product and of the state's product; `reset_after` adds the latter.
    var bias: [Double]
    var recurrentBias: [Double]?
    let activation: Activation
    let gate: Activation
    let resetsAfter: Bool

    init(_ run: LayerRun) throws {
      kind = run.className
      let gates = kind == "LSTM" ? 4 : kind == "GRU" ? 3 : 1
      var weights = run.weights
      if run.generation.major == 1, weights.count == 3 * gates, gates > 1 {
        // Keras 1 stores the gates separately; those of LSTM are in the order i, c, f, o.
        let order = gates == 4 ? [0, 2, 1, 3] : [0, 1, 2]
        weights = (0..<3).map { part in
          let parts = order.map { run.weights[$0 * 3 + part] }
          return DoubleArray.concatenated(parts, axis: parts[0].rank - 1)
        }
      }
      guard weights.count >= 2, weights[0].rank == 2, weights[1].rank == 2 else {
        throw ModelError(.mismatch, "its weights have the shapes \(weights.map(\.shape))")
      }
      (kernel, recurrent) = (weights[0], weights[1])
      units = recurrent.shape[0]
      let width = gates * units
      guard kernel.shape[1] == width, recurrent.shape[1] == width else {
        throw ModelError(.mismatch, "its weights have the shapes \(weights.map(\.shape))")
      }
      bias = weights.count > 2 ? weights[2].values : [Double](repeating: 0, count: width)
      if bias.count == 2 * width {
        recurrentBias = Array(bias[width...])
        bias = Array(bias[..<width])
      }
      guard bias.count == width else { throw ModelError(.mismatch, "its bias has another length") }
      resetsAfter = run.bool("reset_after")
      activation = try Activation(run.field("activation") ?? .string("tanh"), run)
      gate = try Activation(
        run.field("recurrent_activation", "inner_activation") ?? .string("sigmoid"), run)
    }

    /// Computes the next states from an input `[batch, features]`.
    func step(_ x: DoubleArray, _ states: [DoubleArray]) throws -> [DoubleArray] {
      let h = states[0]
      let fromInput = Elements.adding(try Products.product(x, kernel), bias)
      func part(_ array: DoubleArray, _ index: Int) -> DoubleArray {
        array.slice(1, index * units..<(index + 1) * units)
      }
      func joined(
        _ a: DoubleArray, _ b: DoubleArray, _ function: (Double, Double) -> Double
      ) -> DoubleArray {
        DoubleArray(shape: a.shape, zip(a.values, b.values).map(function))
      }
      if kind == "GRU" && !resetsAfter {
        let gates = recurrent.slice(1, 0..<2 * units)
        let inner = try Products.product(h, gates)
        let z = try gate.apply(joined(part(fromInput, 0), part(inner, 0), +))
        let r = try gate.apply(joined(part(fromInput, 1), part(inner, 1), +))
        let last = try Products.product(
          joined(r, h, *), recurrent.slice(1, 2 * units..<3 * units))
        let candidate = try activation.apply(joined(part(fromInput, 2), last, +))
        return [joined(joined(z, h, *), joined(z, candidate) { (1 - $0) * $1 }, +)]
      }
      var inner = try Products.product(h, recurrent)
      if let recurrentBias { inner = Elements.adding(inner, recurrentBias) }
      if kind == "GRU" {
        let z = try gate.apply(joined(part(fromInput, 0), part(inner, 0), +))
        let r = try gate.apply(joined(part(fromInput, 1), part(inner, 1), +))
        let candidate = try activation.apply(
          joined(part(fromInput, 2), joined(r, part(inner, 2), *), +))
        return [joined(joined(z, h, *), joined(z, candidate) { (1 - $0) * $1 }, +)]
      }
      let sum = joined(fromInput, inner, +)
      if kind == "SimpleRNN" { return [try activation.apply(sum)] }
      let i = try gate.apply(part(sum, 0))
      let f = try gate.apply(part(sum, 1))
      let candidate = try activation.apply(part(sum, 2))
      let o = try gate.apply(part(sum, 3))
      let c = joined(joined(f, states[1], *), joined(i, candidate, *), +)
      return [joined(o, try activation.apply(c), *), c]
    }
  }

  static func run(_ run: LayerRun) throws -> [KerasValue] {
    try run.require(rank: 3)
    let cell = try Cell(run)
    let (batch, steps) = (run.input.shape[0], run.input.shape[1])
    let count = cell.kind == "LSTM" ? 2 : 1
    var states: [DoubleArray]
    if run.inputs.count == 1 {
      states = try (0..<count).map { _ in try DoubleArray(shape: [batch, cell.units]) }
    } else {
      states = run.inputs.dropFirst().map(\.array)
      try run.require(
        states.count == count && states.allSatisfy { $0.shape == [batch, cell.units] },
        "initial states of the shapes \(states.map(\.shape))")
    }
    // Keras 3 passes the mask that an input carries only to a call with one tensor.
    let isIgnored =
      run.generation.major >= 3 && run.inputs.count > 1 && !run.call.names.contains("mask")
    let mask = isIgnored ? nil : run.inputs[0].mask
    try run.require(mask.map { $0.shape == [batch, steps] } ?? true, "a mask of another shape")
    let zeros = try DoubleArray(shape: [batch, cell.units])
    var output = zeros
    var outputs: [DoubleArray] = []
    for index in 0..<steps {
      let step = run.bool("go_backwards") ? steps - 1 - index : index
      let x = try run.input.slice(1, step..<step + 1).reshaped([batch, run.input.shape[2]])
      var next = try cell.step(x, states)
      var shown = next[0]
      if let mask {
        // A masked step keeps the states. Its output is zero, or the last output again, which is
        // initially zero.
        for item in 0..<batch where mask.values[item * steps + step] == 0 {
          let range = item * cell.units..<(item + 1) * cell.units
          let repeated = run.bool("zero_output_for_mask") ? zeros : output
          shown.values.replaceSubrange(range, with: repeated.values[range])
          for state in next.indices {
            next[state].values.replaceSubrange(range, with: states[state].values[range])
          }
        }
      }
      (states, output) = (next, shown)
      outputs.append(try shown.reshaped([batch, 1, cell.units]))
    }
    let isSequence = run.bool("return_sequences")
    // The states come last even without return_state, because the converter makes them outputs of
    // the model.
    return [
      KerasValue(
        array: isSequence ? DoubleArray.concatenated(outputs, axis: 1) : output,
        mask: isSequence ? run.inputs[0].mask : nil)
    ] + states.map { KerasValue(array: $0) }
  }
}
