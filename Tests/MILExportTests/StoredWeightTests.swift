import CoreMLModel
import ModelPrediction
import ModelTransforms
import TensorCore
import Testing

@testable import MILExport

/// Compressed weights of networks, which programs store with as many bits.
@Suite struct StoredWeightTests {
  /// An LSTM with random weights and separate codes for each gate.
  private static func lstm(_ precision: WeightPrecision) throws -> Model {
    let (inputs, size) = (5, 4)
    var seed: UInt64 = 7
    func matrix(_ columns: Int) -> Weights {
      Weights(
        (0..<size * columns).map { _ in
          seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          return Float(seed >> 40) / Float(1 << 24) - 0.5
        })
    }
    var weights = LSTMWeights()
    weights.inputGate.matrix = matrix(inputs)
    weights.forgetGate.matrix = matrix(inputs)
    weights.outputGate.matrix = matrix(inputs)
    weights.blockInput.matrix = matrix(inputs)
    weights.inputGate.recursion = matrix(size)
    weights.forgetGate.recursion = matrix(size)
    weights.outputGate.recursion = matrix(size)
    weights.blockInput.recursion = matrix(size)
    var layer = UniDirectionalLSTM()
    (layer.inputVectorSize, layer.outputVectorSize) = (inputs, size)
    layer.weightParams = weights
    layer.activations = [Activation(.sigmoid), Activation(.tanh), Activation(.tanh)]
    layer.params = LSTMParameters()
    let model = Networks.model(
      [NeuralNetworkLayer("lstm", layer, input: ["x"], output: ["y", "h", "c"])],
      inputs: [Networks.array("x", [inputs])], outputs: [Networks.array("y", [size])],
      isExact: false)
    return try model.compressed(CompressionRules(precision)).model
  }

  @Test(
    arguments: [
      (WeightPrecision.float16, "constexpr_cast"),
      (.codes(bits: 4, .kMeansTable), "constexpr_lut_to_dense"),
      (.codes(bits: 8, .kMeansTable), "constexpr_lut_to_dense"),
      (.codes(bits: 8, .linear), "constexpr_blockwise_shift_scale"),
    ])
  func gatesKeepTheirCodes(precision: WeightPrecision, operation: String) throws {
    let network = try Self.lstm(precision)
    let program = try network.mlProgram()
    let values: [Float] = [1, -2, 0.5, 3, -1]
    let expected = try Networks.predict(network, [5], values)
    let found = try Networks.predict(program, [1, 1, 5], values)
    #expect(expected.count == 4 && found.count == 4)
    for (a, b) in zip(found, expected) { #expect(abs(a - b) <= 1e-6) }
    #expect(Networks.operations(program).count { $0 == operation } == 2)
  }
}
