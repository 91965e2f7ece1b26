import CoreMLModel
import LibC
import ModelPrediction
import TensorCore
import TestSupport
import Testing

@testable import MILExport

/// Programs with inputs of several sizes, and with states. Expected values are derived by hand.
@Suite struct SizeTests {
  private typealias Net = Networks

  /// 3 · x, flattened: [1, n, 2] becomes [1, 2 · n].
  @Test(arguments: [2, 3, 7])
  func rangesStayRanges(size: Int) throws {
    var input = Net.array("x", [1, 4, 2])
    guard case .multiArray(var array)? = input.type?.kind else { return }
    array.flexibility = .range([SizeRange(1, 1), SizeRange(2, 9), SizeRange(2, 2)])
    input.type?.kind = .multiArray(array)
    var triple = Multiply()
    triple.alpha = 3
    var flat = FlattenTo2D()
    flat.axis = 1
    let model = Net.model(
      [
        NeuralNetworkLayer("triple", triple, input: ["x"], output: ["t"]),
        NeuralNetworkLayer("flat", flat, input: ["t"], output: ["y"]),
      ], inputs: [input], outputs: [Net.array("y", [])])
    let program = try model.mlProgram()
    let values = (0..<2 * size).map { Float($0) }
    #expect(try Net.predict(program, [1, size, 2], values) == values.map { 3 * $0 })
    #expect(throws: ModelError.self) {
      try Net.predict(program, [1, 10, 2], [Float](repeating: 0, count: 20))
    }
  }

  /// A batch of any size has as many states. All gates are open: x₁, then x₁ + x₂.
  @Test(arguments: [1, 2, 12])
  func statesAreAsManyAsTheBatchHas(size: Int) throws {
    var input = Net.array("x", [2, 16, 1, 1, 1])
    guard case .multiArray(var array)? = input.type?.kind else { return }
    let one = SizeRange(1, 1)
    array.flexibility = .range([SizeRange(2, 2), SizeRange(1, -1), one, one, one])
    input.type?.kind = .multiArray(array)
    let linear = Activation(.linear(alpha: 1, beta: 0))
    var layer = UniDirectionalLSTM()
    (layer.inputVectorSize, layer.outputVectorSize) = (1, 1)
    layer.activations = [linear, linear, linear]
    var parameters = LSTMParameters()
    (parameters.hasBiasVectors, parameters.sequenceOutput) = (true, true)
    layer.params = parameters
    var weights = LSTMWeights()
    for gate in [\LSTMWeights.inputGate, \.forgetGate, \.outputGate, \.blockInput] {
      let isInput = gate == \.blockInput
      weights[keyPath: gate].matrix = Weights([isInput ? 1 : 0])
      weights[keyPath: gate].recursion = Weights([0])
      weights[keyPath: gate].bias = Weights([isInput ? 0 : 1])
    }
    layer.weightParams = weights
    let model = Net.model(
      [NeuralNetworkLayer("lstm", layer, input: ["x"], output: ["y"])], inputs: [input],
      outputs: [Net.array("y", [])])
    let values = (0..<2 * size).map { Float($0 % 5 - 2) }
    let sums = zip(values, values[size...]).map { $0 + $1 }
    #expect(
      try Net.predict(model.mlProgram(), [2, size, 1, 1, 1], values) == values[..<size] + sums)
  }

  /// y = ReLU(x + previous y): the sums of all inputs so far.
  private static func sums(isSequence: Bool) -> NeuralNetworkLayer {
    var layer = SimpleRecurrent()
    (layer.inputVectorSize, layer.outputVectorSize) = (1, 1)
    layer.activation = Activation(.relu)
    layer.sequenceOutput = isSequence
    (layer.weightMatrix, layer.recursionMatrix) = (Weights([1]), Weights([1]))
    return NeuralNetworkLayer("sums", layer, input: ["x", "h_in"], output: ["y", "h_out"])
  }

  private static var stateful: Model {
    Net.model(
      [sums(isSequence: true)],
      inputs: [Net.array("x", [1]), Net.array("h_in", [1], optional: true)],
      outputs: [Net.array("y", [1]), Net.array("h_out", [1])], isExact: false)
  }

  @Test(arguments: [[1, 2, 3], [4], [1, 1, 1, 1, 1, 1, 1]] as [[Float]])
  func sequencesStayAsLongAsTheyAre(values: [Float]) throws {
    let program = try Self.stateful.mlProgram()
    var (sum, sums): (Float, [Float]) = (0, [])
    for value in values {
      sum += value
      sums.append(sum)
    }
    #expect(try Net.predict(program, [values.count, 1, 1], values) == sums)
  }

  /// A state persists from one prediction to the next.
  @Test func statesLast() throws {
    var options = ProgramOptions()
    (options.hasStates, options.hasFixedSizes) = (true, false)
    let program = try Self.stateful.mlProgram(options)
    #expect(program.description?.state.map(\.name) == ["h_in"])
    #expect(program.description?.input.map(\.name) == ["x"])
    #expect(program.description?.output.map(\.name) == ["y"])
    #expect(program.specificationVersion == 9)
    var settings = Predictor.Options()
    settings.keepsStates = true
    let predictor = try Predictor(model: program, options: settings)
    var states = try predictor.initialStates()
    for (value, sum) in [(1, 1), (2, 3), (5, 8)] as [(Float, Float)] {
      let prediction = try predictor.predict(
        ["x": .array(Tensor(shape: [1, 1, 1], [value]))], &states)
      #expect(prediction.outputs.first?.value.elements == [sum])
    }
  }

  /// Without recurrent layers, there are no states to keep.
  @Test func statesAreOfRecurrentLayers() {
    var options = ProgramOptions()
    options.hasStates = true
    let error = #expect(throws: ModelError.self) {
      try Net.product([1, 2], outputs: 1).mlProgram(options)
    }
    #expect(error?.code == .mismatch)
  }

  /// i = σ(x), f = 1 − i, z = x, o = σ(x): c₁ = i · x, c₂ = (1 − i) · c₁ + i · x, h = o · c.
  @Test func coupledGates() throws {
    var layer = UniDirectionalLSTM()
    (layer.inputVectorSize, layer.outputVectorSize) = (1, 1)
    layer.activations = [Activation(.sigmoid), Activation(.linear(alpha: 1, beta: 0))]
    layer.activations.append(Activation(.linear(alpha: 1, beta: 0)))
    var parameters = LSTMParameters()
    (parameters.coupledInputAndForgetGate, parameters.sequenceOutput) = (true, true)
    layer.params = parameters
    var weights = LSTMWeights()
    for gate in [\LSTMWeights.inputGate, \.blockInput, \.outputGate] {
      weights[keyPath: gate].matrix = Weights([1])
      weights[keyPath: gate].recursion = Weights([0])
    }
    layer.weightParams = weights
    let model = Net.model(
      [
        NeuralNetworkLayer(
          "lstm", layer, input: ["x", "h", "c"], output: ["y", "h_out", "c_out"])
      ],
      inputs: [
        Net.array("x", [1]), Net.array("h", [1], optional: true),
        Net.array("c", [1], optional: true),
      ], outputs: [Net.array("y", [1])], isExact: false)
    let found = try Net.predict(model.mlProgram(), [2, 1, 1], [0.5, -1])
    func sigmoid(_ x: Double) -> Double { 1 / (1 + exp(-x)) }
    let first = sigmoid(0.5) * 0.5
    let second = (1 - sigmoid(-1)) * first - sigmoid(-1)
    for (a, b) in zip(found, [sigmoid(0.5) * first, sigmoid(-1) * second]) {
      #expect(abs(Double(a) - b) < 1e-6)
    }
    #expect(found.count == 2)
  }
}
