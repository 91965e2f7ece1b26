import TensorCore
import Testing

@testable import CoreMLModel

@Suite struct NonFiniteWeightsTests {
  private static func dense(_ matrix: Weights, _ bias: Weights) -> NeuralNetworkLayer {
    var dense = InnerProduct()
    dense.inputChannels = 2
    dense.outputChannels = 2
    dense.hasBias = true
    dense.matrix = matrix
    dense.bias = bias
    return NeuralNetworkLayer("d", dense, input: ["x"], output: ["y"])
  }

  private static func model(_ layers: NeuralNetworkLayer...) -> Model {
    var network = NeuralNetwork()
    network.layers = layers
    var model = Model()
    model.type = .neuralNetwork(network)
    return model
  }

  private static func codes(_ kind: Quantization.Kind) -> Weights {
    var weights = Weights()
    weights.rawValue = Bytes([UInt8]([0b1000_0000]))
    var quantization = Quantization()
    quantization.numberOfBits = 1
    quantization.kind = kind
    weights.quantization = quantization
    return weights
  }

  private static func halves(_ bits: UInt16...) -> Weights {
    var weights = Weights()
    weights.float16Value = Bytes(bits)
    return weights
  }

  @Test func namesLayerFieldAndCount() {
    let finite = Weights([1, 2])
    let model = Self.model(
      Self.dense(Weights([1, .nan, -.infinity, 0]), finite),
      Self.dense(Self.halves(0x3C00, 0x7BFF, 0x8000, 0), Self.halves(0xFC00, 0x7BFF)))
    #expect(
      model.nonFiniteWeights == [
        NonFiniteWeights(
          layer: "d", layerClass: "innerProduct", field: "weights", count: 2, total: 4),
        NonFiniteWeights(layer: "d", layerClass: "innerProduct", field: "bias", count: 1, total: 2),
      ])
    #expect(
      model.nonFiniteNote(file: "m.h5")
        == "m.h5: layer 'd' (innerProduct): weights: 2 of 4 values are NaN or infinite, "
        + "and 1 in another field")
    #expect(Self.model(Self.dense(Weights([1, 2, 3, 4]), finite)).nonFiniteNote(file: "m") == nil)
  }

  @Test func scalesAndTablesCount() {
    let kinds: [(Quantization.Kind, String, Int, Int)] = [
      (.linear(scale: [1, .infinity], bias: []), "linearQuantization.scale", 1, 2),
      (.linear(scale: [1], bias: [.nan, .nan]), "linearQuantization.bias", 2, 2),
      (.lookupTable([.nan, 2]), "lookupTableQuantization", 1, 2),
    ]
    for (kind, name, count, total) in kinds {
      let found = Self.model(Self.dense(Self.codes(kind), Weights([1, 2]))).nonFiniteWeights
      #expect(found.map(\.field) == ["weights.quantization." + name])
      #expect(found.map(\.count) == [count] && found.map(\.total) == [total])
    }
    let finite = Self.codes(.linear(scale: [1], bias: [0]))
    #expect(Self.model(Self.dense(finite, Weights([1, 2]))).nonFiniteWeights.isEmpty)
  }

  @Test func pipelinesNameTheirModels() {
    var pipeline = Pipeline()
    let bad = Self.model(Self.dense(Weights([1, 2, 3, 4]), Weights([.nan, 0])))
    pipeline.models = [Self.model(), bad]
    pipeline.names = ["first", "second"]
    var model = Model()
    model.type = .pipeline(pipeline)
    #expect(model.nonFiniteWeights.map(\.layer) == ["second/d"])
  }
}
