import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import ModelTransforms

/// The specification adds 1 to the bias of the forget gate if `forgetBias` is set, so a bias b with
/// it equals a bias b + 1 without it.
struct ForgetBiasTests {
  private static func parameters(isSet: Bool, hasBias: Bool = true) -> LSTMParameters {
    var parameters = LSTMParameters()
    parameters.forgetBias = isSet
    parameters.hasBiasVectors = hasBias
    return parameters
  }

  private static func weights(_ biases: [Float]?) -> LSTMWeights {
    var weights = LSTMWeights()
    guard let biases else { return weights }
    weights.inputGate.bias = Weights([7, 7])
    weights.forgetGate.bias = Weights(biases)
    weights.blockInput.bias = Weights([8, 8])
    weights.outputGate.bias = Weights([9, 9])
    return weights
  }

  /// A network of one LSTM with two units.
  private static func model(isSet: Bool, _ biases: [Float]?) -> Model {
    var layer = UniDirectionalLSTM()
    layer.outputVectorSize = 2
    layer.params = parameters(isSet: isSet, hasBias: biases != nil)
    layer.weightParams = weights(biases)
    return Sample.model([NeuralNetworkLayer("lstm", layer, input: ["x"], output: ["y"])])
  }

  private static func lstm(_ model: Model) throws -> UniDirectionalLSTM {
    try #require(model.neuralNetwork?.layers.first?.parameters as? UniDirectionalLSTM)
  }

  private static func biases(_ layer: UniDirectionalLSTM) throws -> [[Float]] {
    let weights = try #require(layer.weightParams)
    return try [weights.inputGate, weights.forgetGate, weights.blockInput, weights.outputGate]
      .map { try $0.bias?.floatValue.array() ?? [] }
  }

  @Test func theFieldMovesIntoTheWeights() throws {
    let layer = try Self.lstm(
      Self.model(isSet: true, [0.25, -3]).withForgetBiasInWeights())
    #expect(layer.params?.forgetBias == false)
    #expect(try Self.biases(layer) == [[7, 7], [1.25, -2], [8, 8], [9, 9]])
    // Without the field, there is nothing to add.
    let plain = Self.model(isSet: false, [0.25, -3])
    #expect(try plain.withForgetBiasInWeights() == plain)
  }

  @Test func theWeightsMoveIntoTheField() throws {
    let layer = try Self.lstm(Self.model(isSet: false, [1.25, -2]).withForgetBiasInField())
    #expect(layer.params?.forgetBias == true)
    #expect(try Self.biases(layer) == [[7, 7], [0.25, -3], [8, 8], [9, 9]])
    let set = Self.model(isSet: true, [0.25, -3])
    var recorded = set
    recorded.forgetBias = .add
    #expect(try set.withForgetBiasInField() == recorded)
  }

  @Test func gatesWithoutBiasesGetThem() throws {
    let layer = try Self.lstm(Self.model(isSet: true, nil).withForgetBiasInWeights())
    #expect(layer.params?.hasBiasVectors == true)
    #expect(try Self.biases(layer) == [[0, 0], [1, 1], [0, 0], [0, 0]])
  }

  @Test func bothDirectionsInAPipeline() throws {
    var layer = BiDirectionalLSTM()
    layer.outputVectorSize = 2
    layer.params = Self.parameters(isSet: true)
    layer.weightParams = [Self.weights([0, 1]), Self.weights([2, 3])]
    var pipeline = Pipeline()
    pipeline.models = [
      Sample.model([NeuralNetworkLayer("lstm", layer, input: ["x"], output: ["y"])])
    ]
    var model = Model()
    model.type = .pipeline(pipeline)
    guard case .pipeline(let changed)? = try model.withForgetBiasInWeights().type else {
      Issue.record("not a pipeline")
      return
    }
    let result = try #require(
      changed.models.first?.neuralNetwork?.layers.first?.parameters as? BiDirectionalLSTM)
    #expect(
      try result.weightParams.map { try $0.forgetGate.bias?.floatValue.array() } == [
        [1, 2], [3, 4],
      ])
  }

  /// A coupled forget gate is 1 minus the input gate and has no bias of its own.
  @Test func coupledGatesStay() throws {
    var layer = try Self.lstm(Self.model(isSet: true, [0.25, -3]))
    layer.params?.coupledInputAndForgetGate = true
    let model = Sample.model([NeuralNetworkLayer("lstm", layer, input: ["x"], output: ["y"])])
    #expect(try model.withForgetBiasInWeights() == model)
  }

  @Test func biasesOfAnotherSizeAreRefused() throws {
    let error = #expect(throws: ModelError.self) {
      try Self.model(isSet: true, [1, 2, 3]).withForgetBiasInWeights()
    }
    #expect(error?.field == "forgetGateBiasVector")
  }
}
