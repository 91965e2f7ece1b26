import CoreMLModel
import NetworkBuilder
import TensorCore
import TestSupport
import Testing

/// Full-size VGG-16, with weights from a formula that was also used in Keras.
struct VGG16Tests {
  private static let seed: UInt64 = 16

  /// A layer's weights as `Fixtures/builder/make.py` made them for Keras, `[height, width, input,
  /// output]` and `[input, output]`, in the builder's order.
  private static func weights(_ name: String, _ count: Int, _ kind: WeightKind) throws
    -> FloatValues
  {
    let random = RandomWeights(seed: seed)
    guard kind == .weights else {
      return try random.values("\(name)/bias", shape: [count], fanIn: 1)
    }
    let outputs = try #require(outputs[name])
    let inputs = count / outputs
    let values = try random.values("\(name)/kernel", shape: [inputs, outputs], fanIn: inputs)
    return values.transposed([1, 0])
  }

  private static let outputs: [String: Int] = {
    var outputs = ["fc1": 4096, "fc2": 4096, "predictions": 1000]
    for (block, channels) in [64, 128, 256, 512, 512].enumerated() {
      for index in 1...3 { outputs["block\(block + 1)_conv\(index)"] = channels }
    }
    return outputs
  }()

  @Test func parametersAndShapes() throws {
    let vgg = VGG16()
    // Σ (9 · in + 1) · out over the convolutions, (in + 1) · out over the dense layers
    let convolutions = [
      (3, 64), (64, 64), (64, 128), (128, 128), (128, 256), (256, 256), (256, 256), (256, 512),
      (512, 512), (512, 512), (512, 512), (512, 512), (512, 512),
    ]
    let dense = [(7 * 7 * 512, 4096), (4096, 4096), (4096, 1000)]
    let count =
      convolutions.reduce(0) { $0 + (9 * $1.0 + 1) * $1.1 }
      + dense.reduce(0) { $0 + ($1.0 + 1) * $1.1 }
    #expect(count == 138_357_544)
    #expect(try vgg.network.parameterCount() == count)
    #expect(try vgg.fc2.shape().description == "1 × 1 × 4096")
    #expect(try vgg.network.summary().hasSuffix("138,357,544 parameters"))
  }

  @Test func equalsKerasAndTheOneReadFromItsArchitecture() throws {
    var generator = SplitMix64(seed: 7)
    let value = Tensor(
      shape: [224, 224, 3],
      (0..<224 * 224 * 3).map { _ in
        Float(Int32(truncatingIfNeeded: generator.next() >> 32)) * 0x1p-31
      })
    let fromKeras = try KerasNetwork("vgg16.json", random: RandomWeights(seed: Self.seed))
      .predict(value)
    var vgg = VGG16()
    vgg.network.keep(vgg.fc2)
    let own = try vgg.network.compile { name, count, kind in
      try Self.weights(name, count, kind).array()
    }.predict(value.elements)
    #expect(own.output.floats == fromKeras.values.first)
    // Activations after fifteen layers, some near zero, relative to the largest.
    let inside = try own.value(of: vgg.fc2).floats
    let expected = try fixtures.floats("vgg16.npz", "fc2")
    let greatest = zip(inside, expected).map { abs($0 - $1) }.max() ?? .infinity
    #expect(inside.count == 4096)
    #expect(greatest <= 1e-4 * (expected.max() ?? 0), "\(greatest)")
    #expect(
      try difference(own.output.floats, from: fixtures.floats("vgg16.npz", "predictions")) <= 1)
  }
}
