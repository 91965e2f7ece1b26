import ByteFormats
import Testing

@testable import CoreMLModel

/// The fields of layers as values, in the order of the specification's field numbers.
@Suite struct LayerAttributeTests {
  private func attributes(_ layers: [NeuralNetworkLayer]) throws -> [String] {
    var network = NeuralNetwork()
    network.layers = layers
    return try network.layerAttributes().map { JSONValue.object($0).text }
  }

  private func layer(_ parameters: some LayerParameters) -> NeuralNetworkLayer {
    NeuralNetworkLayer("l", parameters, input: ["a"], output: ["b"])
  }

  /// `ConvolutionLayerParams` of NeuralNetwork.proto: fields 1, 2, 10, 20, 30, 40, then 50 or 51,
  /// 60, 70 and 100; the weights, 90 and 91, are omitted.
  @Test func convolutions() throws {
    var layer = Convolution()
    layer.outputChannels = 8
    layer.kernelChannels = 2
    layer.nGroups = 2
    layer.kernelSize = [3, 5]
    layer.stride = [2, 1]
    var valid = ValidPadding()
    valid.paddingAmounts = BorderAmounts(top: 1, bottom: 0, left: 2, right: 3)
    layer.padding = .valid(valid)
    layer.kernel = Weights([Float](repeating: 1, count: 240))
    #expect(
      try attributes([self.layer(layer)]) == [
        #"{"outputChannels": 8, "kernelChannels": 2, "nGroups": 2, "kernelSize": [3, 5], "#
          + #""stride": [2, 1], "dilationFactor": [], "valid": {"paddingAmounts": "#
          + #"{"borderAmounts": [{"startEdgeSize": 1, "endEdgeSize": 0}, "#
          + #"{"startEdgeSize": 2, "endEdgeSize": 3}]}}, "isDeconvolution": false, "#
          + #""hasBias": false, "outputShape": []}"#
      ])
  }

  /// Each layer has its own attributes; numbers stay numbers, enumeration values are names.
  @Test func severalLayers() throws {
    var pooling = Pooling()
    pooling.type = .average
    pooling.kernelSize = [2, 2]
    pooling.padding = .same(SamePadding())
    var norm = Batchnorm()
    norm.channels = 4
    norm.epsilon = 0.001
    norm.gamma = Weights([1, 2, 3, 4])
    let texts = try attributes([
      layer(pooling), layer(norm), layer(Activation(.leakyReLU(alpha: 0.1))),
      layer(Activation(.prelu(alpha: Weights([1, 2])))), layer(Softmax()),
    ])
    #expect(texts[0].contains(#""type": "AVERAGE""#), "\(texts[0])")
    #expect(texts[0].contains(#""same": {"asymmetryMode": "BOTTOM_RIGHT_HEAVY"}"#), "\(texts[0])")
    #expect(texts[1].hasPrefix(#"{"channels": 4, "#), "\(texts[1])")
    #expect(texts[1].contains(#""epsilon": 0.001"#) && !texts[1].contains("gamma"), "\(texts[1])")
    #expect(texts[2] == #"{"leakyReLU": {"alpha": 0.1}}"#)
    #expect(texts[3] == #"{"PReLU": {}}"#)
    #expect(texts[4] == "{}")
  }
}
