import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import Engine

extension InnerProduct: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let shapes = [
      [1, 1, 1, 1, 1], [1, 1, 17, 1, 1], [1, 5, 64, 1, 1], [3, 2, 10, 1, 1], [1, 2, 3, 5, 7],
      [2, 1, 16, 3, 3], [1, 1, 300, 1, 1], [1, 9, 33, 1, 1],
    ]
    return shapes.flatMap { shape in
      [1, 10, 16, 47].map { outputs in
        var layer = InnerProduct()
        layer.inputChannels = shape[2] * shape[3] * shape[4]
        layer.outputChannels = outputs
        layer.matrix = random.weights(layer.inputChannels * outputs)
        layer.hasBias = random.flag()
        if layer.hasBias { layer.bias = random.weights(outputs) }
        return LayerTrial("\(shape) to \(outputs)", layer, [shape])
      }
    }
  }
}

@Suite struct DynamicQuantizationTests {
  /// With a largest magnitude of 127/64, one code step is 1/64, so the codes of (127, 2.5, −3.5,
  /// 0.25) / 64 are 127, 2, −4 and 0: nearest, ties to even. The weights are (2, −4, 6, 8) · 0.5:
  /// (127 · 1 − 2 · 2 − 4 · 3 + 0 · 4) / 64 = 111/64, while the input itself yields (127 − 5 − 10.5
  /// + 1) / 64.
  @Test func roundsTheInputToCodes() throws {
    var weights = Weights()
    weights.int8RawValue = Bytes([2, 252, 6, 8] as [UInt8])
    weights.quantization = Quantization()
    weights.quantization?.numberOfBits = 8
    weights.quantization?.kind = .linear(scale: [0.5], bias: [])
    var dense = InnerProduct()
    (dense.inputChannels, dense.outputChannels) = (4, 1)
    (dense.matrix, dense.int8DynamicQuantize) = (weights, true)
    var product = BatchedMatMul()
    (product.weightMatrixFirstDimension, product.weightMatrixSecondDimension) = (4, 1)
    (product.matrix, product.int8DynamicQuantize) = (weights, true)
    let input: [Float] = [127 / 64, 2.5 / 64, -3.5 / 64, 0.25 / 64]
    for (layer, shape) in [(dense, [4]), (product, [1, 4])]
      as [(any LayerParameters & ReferenceLayer, [Int])]
    {
      let reference = ReferenceTensor(
        shape: layer is InnerProduct ? [1, 1, 4, 1, 1] : shape, input.map(Double.init))
      let outputs = try layer.referenceOutputs([reference], ReferenceSettings())
      #expect(outputs[0].elements == [111.0 / 64], "\(layer.typeName)")
      let model = TestNetwork.exactModel(
        [shape], [NeuralNetworkLayer("l", layer, input: ["in0"], output: ["out"])])
      let network = try CompiledNetwork(model: model, options: CompileOptions())
      let result = try network.predict(["in0": Tensor(shape: shape, input)])
      #expect(result["out"]?.elements == [1.734375], "\(layer.typeName)")
    }
  }
}
