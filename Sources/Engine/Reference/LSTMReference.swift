import CoreMLModel
import TensorCore

extension UniDirectionalLSTM: HalfSumLayer {
  /// Inputs: x, h, c. Outputs: y, h, c.
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shapes = try outputShapes(inputs.map(\.shape))
    let cell = try LSTMCell(
      params ?? LSTMParameters(), weightParams, activations,
      RecurrentSizes(inputs: inputVectorSize, outputs: outputVectorSize), settings)
    let run = cell.run(
      inputs[0], reversed: reverseInput, hidden: state(inputs, 1, outputVectorSize),
      cell: state(inputs, 2, outputVectorSize))
    return recurrentOutputs(run, shapes, params?.sequenceOutput ?? false)
  }
}

extension BiDirectionalLSTM: HalfSumLayer {
  /// Inputs: x, h, c and the backward layer's h, c. Outputs: y, h, c, h, c. At each time, y
  /// contains the forward output, then the backward output for the same time; without a sequence,
  /// the last of each.
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shapes = try outputShapes(inputs.map(\.shape))
    let size = outputVectorSize
    let parameters = params ?? LSTMParameters()
    let cells = try [activationsForwardLSTM, activationsBackwardLSTM].enumerated().map {
      try LSTMCell(
        parameters, $0.offset < weightParams.count ? weightParams[$0.offset] : nil, $0.element,
        RecurrentSizes(inputs: inputVectorSize, outputs: size), settings)
    }
    let forward = cells[0].run(
      inputs[0], reversed: false, hidden: state(inputs, 1, size), cell: state(inputs, 2, size))
    let backward = cells[1].run(
      inputs[0], reversed: true, hidden: state(inputs, 3, size), cell: state(inputs, 4, size))
    let pairs =
      parameters.sequenceOutput
      ? Array(zip(forward.steps, backward.steps.reversed())) : [(forward.hidden, backward.hidden)]
    let y = pairs.flatMap { zip($0, $1).flatMap { $0 + $1 } }
    let states = [forward.hidden, forward.cell, backward.hidden, backward.cell]
    return zip(shapes, [y] + states.map { $0.flatMap { $0 } }).map {
      ReferenceTensor(shape: $0, $1)
    }
  }
}

/// One direction of an LSTM:
///
///     i = f(W·x + R·h + p ∘ c + b), f likewise, z = g(W·x + R·h + b)
///     c = c ∘ f + i ∘ z, or c ∘ (1 − i) + i ∘ z if the gates are coupled, clipped to ±threshold
///     o = f(W·x + R·h + p ∘ c + b) with the new c, h = h(c) ∘ o
private struct LSTMCell {
  private let parameters: LSTMParameters
  private let inputGate: RecurrentGate
  private let forgetGate: RecurrentGate?
  private let blockInput: RecurrentGate
  private let outputGate: RecurrentGate
  /// Peephole weights of the input, forget and output gates.
  private let peepholes: [[Double]]
  private let forgetBias: Double
  private let f: (Double) -> Double
  private let g: (Double) -> Double
  private let h: (Double) -> Double

  init(
    _ parameters: LSTMParameters, _ weights: LSTMWeights?, _ activations: [Activation],
    _ sizes: RecurrentSizes, _ settings: ReferenceSettings
  ) throws {
    guard let weights else { throw ModelError(.malformed, "is missing", field: "weightParams") }
    try require(
      activations.count == 3, "has \(activations.count) functions, not 3", field: "activations")
    self.parameters = parameters
    let isCoupled = parameters.coupledInputAndForgetGate
    func gate(_ gate: RecurrentWeights, _ name: String) throws -> RecurrentGate {
      try RecurrentGate(gate, hasBias: parameters.hasBiasVectors, name, sizes, settings)
    }
    inputGate = try gate(weights.inputGate, "inputGate")
    forgetGate = isCoupled ? nil : try gate(weights.forgetGate, "forgetGate")
    blockInput = try gate(weights.blockInput, "blockInput")
    outputGate = try gate(weights.outputGate, "outputGate")
    let zeros = [Double](repeating: 0, count: sizes.outputs)
    func peephole(_ gate: RecurrentWeights, _ name: String) throws -> [Double] {
      guard parameters.hasPeepholeVectors else { return zeros }
      return try gate.peephole.values([sizes.outputs], name + "PeepholeVector").map(Double.init)
    }
    peepholes = [
      try peephole(weights.inputGate, "inputGate"),
      isCoupled ? zeros : try peephole(weights.forgetGate, "forgetGate"),
      try peephole(weights.outputGate, "outputGate"),
    ]
    forgetBias = parameters.forgetBias && settings.addsForgetBias ? 1 : 0
    f = try recurrentFunction(activations[0], "activations")
    g = try recurrentFunction(activations[1], "activations")
    h = try recurrentFunction(activations[2], "activations")
  }

  func run(
    _ input: ReferenceTensor, reversed: Bool, hidden: [[Double]], cell: [[Double]]
  ) -> RecurrentRun {
    runRecurrence(input, reversed: reversed, hidden: hidden, cell: cell, step)
  }

  private func step(
    _ x: [Double], _ y: [Double], _ c: [Double]
  ) -> (h: [Double], c: [Double]) {
    let threshold =
      Double(parameters.effectiveCellClipThreshold.magnitude)
    func gate(_ gate: RecurrentGate, _ c: [Double], _ peephole: [Double], _ offset: Double)
      -> [Double]
    {
      let sums = gate.sum(x, y)
      return sums.indices.map { f(clip(sums[$0] + peephole[$0] * c[$0] + offset)) }
    }
    let i = gate(inputGate, c, peepholes[0], 0)
    let kept = forgetGate.map { gate($0, c, peepholes[1], forgetBias) } ?? i.map { 1 - $0 }
    let z = blockInput.sum(x, y).map { g(clip($0)) }
    let next = c.indices.map { clip(c[$0] * kept[$0] + i[$0] * z[$0], to: threshold) }
    let o = gate(outputGate, next, peepholes[2], 0)
    return (next.indices.map { h(next[$0]) * o[$0] }, next)
  }
}
