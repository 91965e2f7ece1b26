import CoreMLModel
import TensorCore
import Testing

@testable import ModelTransforms

struct CompressionTests {
  private func dense(
    _ name: String, _ inputs: Int, _ outputs: Int, _ blobs: (String, String), scale: Float = 1
  ) -> NeuralNetworkLayer {
    var generator = SplitMix64(seed: UInt64(inputs * 100 + outputs))
    var dense = InnerProduct()
    dense.inputChannels = inputs
    dense.outputChannels = outputs
    dense.matrix = Weights(
      (0..<inputs * outputs).map { _ in scale * Float.random(in: -1...1, using: &generator) })
    dense.hasBias = true
    dense.bias = Weights([Float](repeating: 0.5, count: outputs))
    return NeuralNetworkLayer(name, dense, input: [blobs.0], output: [blobs.1])
  }

  private func parameters<Layer>(_ model: Model, _ index: Int, _: Layer.Type) throws -> Layer {
    try #require(model.neuralNetwork?.layers[index].parameters as? Layer)
  }

  @Test func codesAreForMatrices() throws {
    let before = Sample.model([dense("a", 8, 4, ("x", "y")), dense("b", 4, 2, ("y", "z"))])
    let (after, layers) = try before.compressed(CompressionRules(.codes(bits: 4, .linear)))
    #expect(after.specificationVersion == 3)
    let first = try parameters(after, 0, InnerProduct.self)
    #expect(first.matrix?.rawValue.count == 16)
    #expect(first.bias?.floatValue.count == 4)
    // 32 codes of 4 bits, 4 scales and 4 biases; 4 biases of the layer.
    #expect(layers[0].bytesAfter == 16 + 32 + 16)
    #expect(layers[0].bytesBefore == 4 * 36)
    #expect(layers[0].storage == "4 bits, linear + float32")
    #expect(after.weightByteCount == layers[0].bytesAfter + layers[1].bytesAfter)
  }

  /// Core ML supports one scale for a grouped deconvolution, and no codes for volumes.
  @Test func whatCoreMLTakes() throws {
    var grouped = Convolution()
    (grouped.outputChannels, grouped.kernelChannels, grouped.nGroups) = (4, 6, 2)
    (grouped.kernelSize, grouped.isDeconvolution) = ([1, 1], true)
    grouped.padding = .valid(ValidPadding())
    grouped.kernel = Weights((0..<12).map { Float($0) })
    var volume = Convolution3D()
    (volume.outputChannels, volume.inputChannels, volume.window.kernel) = (2, 3, [1, 1, 1])
    volume.kernel = Weights((0..<6).map { Float($0) })
    let before = Sample.model([
      NeuralNetworkLayer("grouped", grouped, input: ["x"], output: ["y"]),
      NeuralNetworkLayer("volume", volume, input: ["y"], output: ["z"]),
    ])
    let (after, layers) = try before.compressed(CompressionRules(.codes(bits: 8, .linear)))
    let kernel = try parameters(after, 0, Convolution.self).kernel
    guard case .linear(let scale, _)? = kernel?.quantization?.kind else {
      Issue.record("the kernel has no scale")
      return
    }
    // 0 … 11 in 255 steps.
    #expect(scale.count == 1 && abs(scale[0] - 11.0 / 255) < 1e-3, "\(scale)")
    #expect(try parameters(after, 1, Convolution3D.self).kernel?.rawValue.count == 0)
    #expect(layers[1].note?.contains("convolution3d") == true)
  }

  @Test func selection() throws {
    let before = Sample.model([
      dense("first", 8, 4, ("x", "y")), dense("second", 4, 4, ("y", "z")),
      dense("third", 4, 2, ("z", "w")),
    ])
    func compressed(_ change: (inout CompressionRules) -> Void) throws -> [Bool] {
      var rules = CompressionRules(.codes(bits: 8, .linear))
      change(&rules)
      return try before.compressed(rules).layers.map { $0.storage.contains("bits") }
    }
    #expect(try compressed { _ in } == [true, true, true])
    #expect(try compressed { $0.names = [NamePattern("*ir*")] } == [true, false, true])
    #expect(try compressed { $0.skippedNames = [NamePattern("s*d")] } == [true, false, true])
    #expect(try compressed { $0.minimumCount = 16 } == [true, true, false])
    #expect(try compressed { $0.names = [NamePattern("convolution")] } == [false, false, false])
    #expect(
      try compressed { $0.skippedNames = [NamePattern("innerProduct")] } == [false, false, false])
    #expect(
      try compressed {
        $0.names = [NamePattern("none")]
        $0.layers["second"] = .codes(bits: 2, .linear)
      } == [false, true, false])
  }

  /// Layers in different precisions, one after the other; layers with fewer bits are not changed.
  @Test func filesOfMixedPrecision() throws {
    var rules = CompressionRules(.codes(bits: 4, .linear))
    rules.names = [NamePattern("a")]
    let before = Sample.model([dense("a", 8, 4, ("x", "y")), dense("b", 4, 2, ("y", "z"))])
    let mixed = try before.compressed(rules).model
    let halves = try mixed.compressed(CompressionRules(.float16)).model
    #expect(halves.neuralNetwork?.layers[0] == mixed.neuralNetwork?.layers[0])
    #expect(try parameters(halves, 1, InnerProduct.self).bias?.float16Value.count == 4)
    let eight = try halves.compressed(CompressionRules(.codes(bits: 8, .kMeansTable))).model
    #expect(eight.neuralNetwork?.layers[0] == mixed.neuralNetwork?.layers[0])
    let second = try parameters(eight, 1, InnerProduct.self)
    #expect(second.matrix?.rawValue.count == 8)
    // Half precision and codes cannot be mixed within one layer.
    #expect(try second.bias?.floatValue.array() == [0.5, 0.5])
    #expect(eight.validate().map(\.message) == before.validate().map(\.message))
    let floats = try eight.compressed(CompressionRules(.float32)).model
    #expect(try parameters(floats, 0, InnerProduct.self).matrix?.floatValue.count == 32)
  }

  @Test func overflowIsAnErrorOrKeepsTheLayer() throws {
    let before = Sample.model([
      dense("small", 8, 4, ("x", "y")), dense("large", 4, 2, ("y", "z"), scale: 1e6),
    ])
    let error = #expect(throws: ModelError.self) {
      try before.compressed(CompressionRules(.float16))
    }
    #expect(error?.layer == "large")
    #expect(error?.field == "weights")
    var rules = CompressionRules(.float16)
    rules.keepsOverflow = true
    let (after, layers) = try before.compressed(rules)
    #expect(after.neuralNetwork?.layers[1] == before.neuralNetwork?.layers[1])
    #expect(layers[1].note?.contains("does not fit into half precision") ?? false)
    #expect(layers.map(\.storage) == ["float16", "float32"])
  }

  @Test func updatableLayersStay() throws {
    var layer = dense("a", 8, 4, ("x", "y"))
    layer.isUpdatable = true
    let before = Sample.model([layer])
    let (after, layers) = try before.compressed(CompressionRules(.codes(bits: 4, .linear)))
    #expect(after.neuralNetwork == before.neuralNetwork)
    #expect(layers[0].note == "updatable")
  }
}
