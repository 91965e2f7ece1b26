import CoreMLModel
import TensorCore
import Testing

@testable import Engine

@Suite struct ReferenceRecurrentTests {
  private let golden = Goldens("lstm")

  /// The four gates of `W`, `R` and `b` in the order i, f, z, o, and the three peepholes of `p`.
  private func weights(_ suffix: String = "") throws -> LSTMWeights {
    func parts(_ key: String, _ count: Int) throws -> [Weights] {
      let values = try golden.values(key)
      let size = values.count / count
      return (0..<count).map { Weights(Array(values[$0 * size..<($0 + 1) * size])) }
    }
    let (w, r) = (try parts("W" + suffix, 4), try parts("R" + suffix, 4))
    let b = try parts(suffix.isEmpty ? "b" : "bb", 4)
    let p = try parts(suffix.isEmpty ? "p" : "pb", 3)
    var weights = LSTMWeights()
    weights.inputGate.matrix = w[0]
    weights.forgetGate.matrix = w[1]
    weights.blockInput.matrix = w[2]
    weights.outputGate.matrix = w[3]
    weights.inputGate.recursion = r[0]
    weights.forgetGate.recursion = r[1]
    weights.blockInput.recursion = r[2]
    weights.outputGate.recursion = r[3]
    weights.inputGate.bias = b[0]
    weights.forgetGate.bias = b[1]
    weights.blockInput.bias = b[2]
    weights.outputGate.bias = b[3]
    weights.inputGate.peephole = p[0]
    weights.forgetGate.peephole = p[1]
    weights.outputGate.peephole = p[2]
    return weights
  }

  private func lstm() throws -> UniDirectionalLSTM {
    var layer = UniDirectionalLSTM()
    layer.inputVectorSize = 3
    layer.outputVectorSize = 4
    layer.activations = [Activation(.sigmoid), Activation(.tanh), Activation(.tanh)]
    layer.weightParams = try weights()
    var parameters = LSTMParameters()
    parameters.hasBiasVectors = true
    parameters.sequenceOutput = true
    layer.params = parameters
    return layer
  }

  /// All weights are zero: c′ = c / 2 and h′ = tanh(c′) / 2. The first two of four rows of states
  /// are used.
  @Test func statesOfMoreRows() throws {
    var layer = UniDirectionalLSTM()
    (layer.inputVectorSize, layer.outputVectorSize) = (1, 1)
    layer.activations = [Activation(.sigmoid), Activation(.tanh), Activation(.tanh)]
    var weights = LSTMWeights()
    for gate in [\LSTMWeights.inputGate, \.forgetGate, \.outputGate, \.blockInput] {
      weights[keyPath: gate] = RecurrentWeights(Weights([0]), Weights([0]))
    }
    (layer.weightParams, layer.params) = (weights, LSTMParameters())
    let states = Tensor(shape: [1, 4, 1, 1, 1], [2, 4, 9, 9])
    let model = TestNetwork.exactModel(
      [[1, 2, 1, 1, 1], states.shape, states.shape],
      [
        NeuralNetworkLayer(
          "out", layer, input: ["in0", "in1", "in2"], output: ["out", "hidden", "cell"])
      ], outputs: ["hidden", "cell"])
    let inputs = ["in0": Tensor(shape: [1, 2, 1, 1, 1]), "in1": states, "in2": states]
    let engine = try CompiledNetwork(model: model).predict(inputs)
    let twin = try ReferenceNetwork(model: model).predict(inputs.mapValues(ReferenceTensor.init))
    for result in [engine, twin.mapValues(\.tensor)] {
      #expect(result["cell"]?.elements == [1, 2])
      let hidden = result["hidden"]?.elements ?? []
      for (value, expected) in zip(hidden, [0.380797, 0.482014] as [Float]) {
        #expect(abs(value - expected) < 1e-6)
      }
      #expect(hidden.count == 2)
    }
  }

  @Test func plainLSTM() throws {
    var layer = try lstm()
    try golden.check(layer, ["input"], ["plain"])
    try golden.check(layer, ["far"], ["clipped"])
    // Without constants, as written by coremltools, it is tanh.
    layer.activations[1] = Activation(.scaledTanh(alpha: 0, beta: 0))
    try golden.check(layer, ["input"], ["plain"])
    layer.params?.forgetBias = true
    try golden.check(layer, ["input"], ["plain"])
    try golden.check(
      layer, ["input"], ["forget"], settings: ReferenceSettings(addsForgetBias: true))
    layer.params?.sequenceOutput = false
    layer.params?.forgetBias = false
    try golden.check(layer, ["input"], ["last"])
  }

  @Test func fullLSTM() throws {
    var layer = try lstm()
    layer.params?.hasPeepholeVectors = true
    layer.params?.cellClipThreshold = 0.25
    try golden.check(layer, ["input", "h", "c"], ["full", "full_h", "full_c"])
    layer.params?.cellClipThreshold = 0
    layer.params?.coupledInputAndForgetGate = true
    layer.params?.hasBiasVectors = false
    layer.reverseInput = true
    try golden.check(layer, ["input", "h", "c"], ["coupled"])
  }

  @Test func bidirectionalLSTM() throws {
    var layer = BiDirectionalLSTM()
    layer.inputVectorSize = 3
    layer.outputVectorSize = 4
    layer.activationsForwardLSTM = [
      Activation(.sigmoid), Activation(.tanh), Activation(.tanh),
    ]
    layer.activationsBackwardLSTM = layer.activationsForwardLSTM
    layer.weightParams = [try weights(), try weights("b")]
    var parameters = LSTMParameters()
    parameters.hasBiasVectors = true
    parameters.hasPeepholeVectors = true
    parameters.sequenceOutput = true
    layer.params = parameters
    let inputs = ["input", "h", "c", "c", "h"]
    try golden.check(
      layer, inputs, ["both", "both_h", "both_c", "both_hr", "both_cr"])
    layer.params?.sequenceOutput = false
    try golden.check(layer, inputs, ["both_last"])
  }

  /// The `count` gates of one matrix.
  private func gates(_ golden: Goldens, _ key: String, _ count: Int) throws -> [Weights] {
    let values = try golden.values(key)
    let size = values.count / count
    return (0..<count).map { Weights(Array(values[$0 * size..<($0 + 1) * size])) }
  }

  @Test func gru() throws {
    let golden = Goldens("gru")
    var layer = GRU()
    layer.inputVectorSize = 3
    layer.outputVectorSize = 4
    // Without parameters, as written by the reference converter: 0.2x + 0.5.
    layer.activations = [Activation(.sigmoidHard(alpha: 0, beta: 0)), Activation(.tanh)]
    layer.hasBiasVectors = true
    layer.sequenceOutput = true
    let (w, r) = (try gates(golden, "W", 3), try gates(golden, "R", 3))
    let b = try gates(golden, "b", 3)
    layer.updateGate.matrix = w[0]
    layer.resetGate.matrix = w[1]
    layer.outputGate.matrix = w[2]
    layer.updateGate.recursion = r[0]
    layer.resetGate.recursion = r[1]
    layer.outputGate.recursion = r[2]
    layer.updateGate.bias = b[0]
    layer.resetGate.bias = b[1]
    layer.outputGate.bias = b[2]
    try golden.check(layer, ["input", "h"], ["output", "last"])
    layer.sequenceOutput = false
    try golden.check(layer, ["input", "h"], ["last", "last"])
  }

  @Test func simpleRecurrent() throws {
    let golden = Goldens("simpleRecurrent")
    var layer = SimpleRecurrent()
    layer.inputVectorSize = 3
    layer.outputVectorSize = 4
    layer.activation = Activation(.relu)
    layer.sequenceOutput = true
    layer.reverseInput = true
    layer.hasBiasVector = true
    layer.weightMatrix = try golden.weights("W")
    layer.recursionMatrix = try golden.weights("R")
    layer.biasVector = try golden.weights("b")
    try golden.check(layer, ["input"], ["reversed", "last"], zeroState: [1, 2, 4, 1, 1])
    layer.sequenceOutput = false
    try golden.check(layer, ["input"], ["last"], zeroState: [1, 2, 4, 1, 1])
  }
}
