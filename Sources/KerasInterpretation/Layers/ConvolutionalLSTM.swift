import ByteFormats
import Interpretation
import TensorCore

/// ConvLSTM1D and ConvLSTM2D: an LSTM with convolutions instead of matrix products.
enum ConvolutionalLSTM {
  static let operations: [String: KerasOperations.Operation] = [
    "ConvLSTM1D": run, "ConvLSTM2D": run,
  ]

  /// Weights: kernels `[axes…, in, 4 · filters]` for input and state, and the bias; gates i, f, c,
  /// o. Only the input's convolution has strides; the state's has stride 1 and padding `same`.
  private static func run(_ run: LayerRun) throws -> [KerasValue] {
    try run.require(rank: run.axes + 3)
    try run.require(run.inputs.count == 1, "initial states are not interpreted")
    try run.require(run.inputs[0].mask == nil, "a mask is not interpreted")
    let kernel = Convolutions.dense(try run.weight(0, rank: run.axes + 2))
    let recurrent = Convolutions.dense(try run.weight(1, rank: run.axes + 2))
    let filters = recurrent.shape[1]
    let bias = run.weights.count > 2 ? try run.vector(2, 4 * filters) : []
    let activation = try Activation(run.field("activation") ?? .string("tanh"), run)
    let gate = try Activation(run.field("recurrent_activation") ?? .string("hard_sigmoid"), run)
    var state = run
    var fields = JSONObject()
    fields["padding"] = .string("same")
    state.fields = .object(fields)
    let steps = run.input.shape[1]
    var (h, c): (DoubleArray?, DoubleArray?) = (nil, nil)
    var all: [DoubleArray] = []
    for step in run.bool("go_backwards") ? Array((0..<steps).reversed()) : Array(0..<steps) {
      let frame = try run.input.slice(1, step..<step + 1).reshaped(
        [run.input.shape[0]] + run.input.shape[2...])
      var sum = try Convolutions.correlate(run, run.planes(frame), kernel, groups: 1, stepped: true)
      let inner = sum.count(2..<sum.rank)
      for index in bias.isEmpty ? 0..<0 : sum.values.indices {
        sum.values[index] += bias[index / inner % bias.count]
      }
      if let h {
        sum = try Merges.broadcast(
          sum, Convolutions.correlate(state, h, recurrent, groups: 1, stepped: true), +)
      }
      func part(_ index: Int) -> DoubleArray {
        sum.slice(1, index * filters..<(index + 1) * filters)
      }
      let (i, f, o) = try (gate.apply(part(0)), gate.apply(part(1)), gate.apply(part(3)))
      var next = try Merges.broadcast(i, activation.apply(part(2)), *)
      if let c { next = try Merges.broadcast(next, Merges.broadcast(f, c, *), +) }
      let output = try Merges.broadcast(o, activation.apply(next), *)
      (h, c) = (output, next)
      all.append(output)
    }
    guard let h, let c else { throw ModelError(.mismatch, "a sequence without steps") }
    func sequence(_ frame: DoubleArray) throws -> DoubleArray {
      let frame = run.layout(frame)
      return try frame.reshaped([frame.shape[0], 1] + frame.shape[1...])
    }
    let output =
      try run.bool("return_sequences")
      ? DoubleArray.concatenated(all.map(sequence), axis: 1) : run.layout(h)
    let states = run.bool("return_state") ? [run.layout(h), run.layout(c)] : []
    return ([output] + states).map { KerasValue(array: $0) }
  }
}
