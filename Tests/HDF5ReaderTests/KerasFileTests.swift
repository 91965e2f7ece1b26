import TensorCore
import TestSupport
import Testing

@testable import HDF5Reader

struct KerasFileTests {
  @Test(arguments: Way.allCases) func readsAttributesAndWeights(way: Way) throws {
    let file = try way.open("keras.h5")
    #expect(file.root.attributes["keras_version"]?.string == "2.2.4")
    #expect(file.root.attributes["backend"]?.string == "tensorflow")
    let configuration = try #require(file.root.attributes["model_config"]?.string)
    #expect(configuration.hasSuffix(String(repeating: "é", count: 40) + "\"}}"))
    #expect(file.root.groupNames == ["model_weights", "optimizer_weights"])

    let weights = try file.root.group("model_weights")
    #expect(weights.attributeStrings("layer_names") == ["conv2d_1", "flatten", "dense_1"])
    #expect(try weights.group("flatten").attributes["weight_names"]?.shape == [0])
    let convolution = try weights.group("conv2d_1")
    #expect(
      convolution.attributeStrings("weight_names")
        == ["conv2d_1/kernel:0", "conv2d_1/bias:0"])
    let kernel = try convolution.dataset("conv2d_1/kernel:0")
    #expect(kernel.path == "/model_weights/conv2d_1/conv2d_1/kernel:0")
    #expect(kernel.shape == [3, 3, 2, 4])
    #expect(try kernel.values().shape == [3, 3, 2, 4])
    #expect(try kernel.values().array() == ramp(72))
    #expect(try weights.dataset("dense_1/dense_1/bias:0").values().array() == ramp(3))
    let iterations = try file.root.dataset("optimizer_weights/training/Adam/iterations:0")
    #expect(iterations.shape == [])
    #expect(try iterations.values().array() == [1_234_567_890_123])
    #expect(try file.root.dataset("optimizer_weights/training/Adam/m").values().array() == ramp(12))
  }

  @Test func contiguousWeightsAreNotCopied() throws {
    let file = try HDF5File.open(fixtures.path("keras.h5"))
    let kernel = try file.root.dataset("model_weights/conv2d_1/conv2d_1/kernel:0")
    let first = try #require(try kernel.values().contiguousBytes)
    let second = try #require(try kernel.values().contiguousBytes)
    first.withUnsafeBytes { a in
      second.withUnsafeBytes { b in #expect(a.baseAddress == b.baseAddress) }
    }
  }
}
