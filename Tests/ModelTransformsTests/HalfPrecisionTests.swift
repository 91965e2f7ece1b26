import CoreMLModel
import TensorCore
import Testing

@testable import ModelTransforms

struct HalfPrecisionTests {
  @Test func weightsBecomeHalves() throws {
    var dense = InnerProduct()
    dense.inputChannels = 3
    dense.outputChannels = 2
    // 1 + 2⁻¹¹ is halfway between two halves and rounds to the even one, 1; 65503 rounds to 65504.
    dense.matrix = Weights(
      FloatValues([1, -2.5, 0.1, 1 + 0x1p-11, 65503, 0]).shaped([3, 2]).transposed([1, 0]))
    var lstm = UniDirectionalLSTM()
    lstm.outputVectorSize = 1
    lstm.weightParams = LSTMWeights()
    lstm.weightParams?.inputGate.bias = Weights([0.5])
    var custom = Custom()
    custom.blobs = [Weights([0.5])]
    let layers = [
      NeuralNetworkLayer("d", dense, input: ["x"], output: ["y"]),
      NeuralNetworkLayer("l", lstm, input: ["x"], output: ["y"]),
      NeuralNetworkLayer(
        "p", Activation(.prelu(alpha: Weights([0.5]))), input: ["x"], output: ["y"]),
      NeuralNetworkLayer("c", custom, input: ["x"], output: ["y"]),
    ]
    let half = try Sample.model(layers).withHalfPrecisionWeights()
    #expect(half.specificationVersion == 2)
    let result = half.neuralNetwork?.layers ?? []
    let matrix = (result[0].parameters as? InnerProduct)?.matrix
    #expect(matrix?.floatValue.count == 0)
    // Transposed: 1, 0.1, 65504, −2.5, 1, 0.
    #expect(
      matrix?.float16Value.array(of: UInt16.self) == [0x3C00, 0x2E66, 0x7BFF, 0xC100, 0x3C00, 0])
    let gate = (result[1].parameters as? UniDirectionalLSTM)?.weightParams?.inputGate.bias
    #expect(gate?.float16Value.array(of: UInt16.self) == [0x3800])
    #expect(result[2] == layers[2])
    #expect(result[3] == layers[3])
  }

  @Test func namesWhatIsTooLarge() {
    var dense = InnerProduct()
    dense.inputChannels = 1
    dense.outputChannels = 2
    dense.matrix = Weights([0, 0])
    dense.bias = Weights([1, -65504])
    let found = Sample.model([NeuralNetworkLayer("d", dense, input: ["x"], output: ["y"])])
    let error = #expect(throws: ModelError.self) { try found.withHalfPrecisionWeights() }
    #expect(error?.layer == "d")
    #expect(error?.field == "bias")
    #expect(error?.message.contains("-65504") ?? false)
  }
}
