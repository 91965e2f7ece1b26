import CoreMLModel
import TensorCore

extension SimpleRecurrent: HalfSumLayer {
  /// Inputs: x and h. Outputs: y and h.
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shapes = try outputShapes(inputs.map(\.shape))
    let f = try recurrentFunction(activation, "activation")
    let gate = try RecurrentGate(
      RecurrentWeights(weightMatrix, recursionMatrix, biasVector), hasBias: hasBiasVector, "",
      RecurrentSizes(inputs: inputVectorSize, outputs: outputVectorSize), settings)
    let run = runRecurrence(
      inputs[0], reversed: reverseInput, hidden: state(inputs, 1, outputVectorSize),
      cell: nil
    ) { x, h, c in (gate.sum(x, h).map { f(clip($0)) }, c) }
    return recurrentOutputs(run, shapes, sequenceOutput)
  }
}

extension GRU: HalfSumLayer {
  /// Inputs: x and h. Outputs: y and h.
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shapes = try outputShapes(inputs.map(\.shape))
    let f = try recurrentFunction(activations.first, "activations")
    let g = try recurrentFunction(activations.last, "activations")
    func gate(
      _ weights: RecurrentWeights, _ name: String, hasBias: Bool? = nil
    ) throws -> RecurrentGate {
      try RecurrentGate(
        weights, hasBias: hasBias ?? hasBiasVectors, name,
        RecurrentSizes(inputs: inputVectorSize, outputs: outputVectorSize), settings)
    }
    let update = try gate(updateGate, "updateGate")
    let reset = try gate(resetGate, "resetGate")
    let output = try gate(outputGate, "outputGate")
    let inner = try gate(
      RecurrentWeights(outputGate.matrix, outputGate.recursion, resetBias), "outputGate",
      hasBias: true)
    let run = runRecurrence(
      inputs[0], reversed: reverseInput, hidden: state(inputs, 1, outputVectorSize), cell: nil
    ) { x, h, c in
      let z = update.sum(x, h).map { f(clip($0)) }
      let r = reset.sum(x, h).map { f(clip($0)) }
      let candidate =
        resetsAfter
        ? zip(output.sum(x, []), zip(r, inner.sum([], h))).map { $0 + $1.0 * $1.1 }
        : output.sum(x, zip(r, h).map { $0 * $1 })
      let o = candidate.map { g(clip($0)) }
      return (h.indices.map { (1 - z[$0]) * o[$0] + z[$0] * h[$0] }, c)
    }
    return recurrentOutputs(run, shapes, sequenceOutput)
  }
}

struct RecurrentSizes {
  var inputs: Int
  var outputs: Int
}

/// The steps of one run in processing order, and the last state, with one vector per batch item.
struct RecurrentRun {
  var steps: [[[Double]]]
  var hidden: [[Double]]
  var cell: [[Double]]
}

/// Runs a cell over the sequence.
func runRecurrence(
  _ input: ReferenceTensor, reversed: Bool, hidden: [[Double]], cell: [[Double]]?,
  _ step: (_ x: [Double], _ h: [Double], _ c: [Double]) -> (h: [Double], c: [Double])
) -> RecurrentRun {
  var run = RecurrentRun(steps: [], hidden: hidden, cell: cell ?? hidden.map { _ in [] })
  let times = Array(0..<input.sequence)
  for time in reversed ? times.reversed() : times {
    for batch in 0..<input.batch {
      let x = Array(input.item(time * input.batch + batch))
      (run.hidden[batch], run.cell[batch]) = step(x, run.hidden[batch], run.cell[batch])
    }
    run.steps.append(run.hidden)
  }
  return run
}

/// y, then the states h and c if the layer has such outputs. With `sequenceOutput`, the steps are
/// in processing order, so reversed input gives reversed output, as with Keras's `go_backwards`.
func recurrentOutputs(
  _ run: RecurrentRun, _ shapes: [[Int]], _ sequenceOutput: Bool
) -> [ReferenceTensor] {
  let y = sequenceOutput ? run.steps : [run.hidden]
  let all = [y, [run.hidden], [run.cell]]
  return zip(shapes, all).map { shape, values in
    ReferenceTensor(shape: shape, values.flatMap { $0.flatMap { $0 } })
  }
}

/// The state of each batch item: input `index`, or zeros if it is missing.
func state(_ inputs: [ReferenceTensor], _ index: Int, _ size: Int) -> [[Double]] {
  (0..<inputs[0].batch).map { batch in
    index < inputs.count
      ? Array(inputs[index].elements[batch * size..<(batch + 1) * size])
      : [Double](repeating: 0, count: size)
  }
}

/// W·x + R·h + b
struct RecurrentGate {
  private let weights: [Float]
  private let recursion: [Float]
  private let bias: [Float]
  private let settings: ReferenceSettings

  init(
    _ gate: RecurrentWeights, hasBias: Bool, _ name: String, _ sizes: RecurrentSizes,
    _ settings: ReferenceSettings
  ) throws {
    let (inputs, outputs) = (sizes.inputs, sizes.outputs)
    self.settings = settings
    weights = try gate.matrix.values([outputs, inputs], name + "WeightMatrix")
    recursion = try gate.recursion.values([outputs, outputs], name + "RecursionMatrix")
    bias =
      hasBias && gate.bias != nil
      ? try gate.bias.values([outputs], name + "BiasVector") : [Float](repeating: 0, count: outputs)
  }

  func sum(_ x: [Double], _ h: [Double]) -> [Double] {
    bias.indices.map { row in
      var sum = ReferenceSum(Double(bias[row]), settings)
      for i in x.indices { sum.add(Double(weights[row * x.count + i]) * x[i]) }
      for i in h.indices { sum.add(Double(recursion[row * h.count + i]) * h[i]) }
      return sum.value
    }
  }
}

/// The specification clips every argument of an activation to −50 to 50.
func clip(_ value: Double, to limit: Double = 50) -> Double { min(max(value, -limit), limit) }

/// The function of a gate. The reference converter leaves the parameters of `sigmoidHard`,
/// `scaledTanh` and `linear` unset; inside recurrent layers they mean 0.2x + 0.5, tanh(x) and x.
func recurrentFunction(_ activation: Activation?, _ field: String) throws -> (Double) -> Double {
  switch activation?.function {
  case nil: throw ModelError(.malformed, "no function is set", field: field)
  case .sigmoidHard(alpha: 0, beta: 0):
    return { min(max(0.2 * $0 + 0.5, 0), 1) }
  case .linear(alpha: 0, beta: 0): return { $0 }
  case .scaledTanh(alpha: 0, beta: 0): return scalarFunction(.tanh)
  case let function?: return scalarFunction(function)
  }
}
