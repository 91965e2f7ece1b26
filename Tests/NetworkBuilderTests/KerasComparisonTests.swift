import NetworkBuilder
import TensorCore
import TestSupport
import Testing

/// Networks described here, compared with Keras's predictions for the same weights, and with the
/// same networks imported from Keras files.
struct KerasComparisonTests {
  @Test func digits() throws {
    var digits = DigitNetwork()
    digits.network.keep(digits.features)
    let model = try digits.network.compile(weights: .folder(fixtures.path("lenet")))
    let prediction = try model.predict(fixtures.picture("lenet.npz", "picture"))
    let expected = try fixtures.floats("lenet.npz", "softmax")
    #expect(difference(prediction.output.floats, from: expected) <= 1)
    let features = try prediction.value(of: digits.features)
    #expect(features.shape == TensorShape(height: 7, width: 7, channels: 8))
    #expect(try difference(features.floats, from: fixtures.floats("lenet.npz", "pool2")) <= 1)
    #expect(
      prediction.output.top(1).first?.index == expected.indices.max { expected[$0] < expected[$1] })
  }

  @Test func groupsDilationPaddingsAndActivations() throws {
    let input = Input(width: 11, height: 15, channels: 4)
    let left =
      input
      --> Convolution(
        kernel: (5, 3), channels: 8, stride: (1, 2), groups: 2, activation: .tanh, name: "grouped")
    let right =
      input
      --> DepthwiseConvolution(kernel: (2, 3), multiplier: 2, padding: .valid, name: "depthwise")
      --> ActivationLayer(.elu(alpha: 0.5))
      --> Convolution(
        kernel: (4, 2), channels: 8, stride: (1, 2),
        padding: .explicit(top: 1, bottom: 2, left: 1, right: 3),
        activation: .leakyReLU(alpha: 0.3), name: "padded")
    let average =
      Add([left, right], activation: .relu)
      --> AveragePooling(kernel: (2, 3), stride: (1, 1), padding: .same)
    let shared = Convolution(kernel: (1, 1), channels: 6, activation: .softsign, name: "shared")
    let output =
      average
      --> Convolution(
        kernel: (3, 3), channels: 6, dilation: (2, 2), bias: false, activation: .softplus,
        name: "dilated")
      --> shared --> shared
      --> Pooling(kernel: (2, 3), stride: (3, 2), padding: .same)
      --> Dense(neurons: 5, activation: .sigmoid, name: "dense")
    var network = Network(input: input, output: output)
    network.keep(average)
    let prediction = try network.compile(weights: .folder(fixtures.path("mixture")))
      .predict(fixtures.floats("mixture.npz", "input"))
    #expect(
      try difference(
        prediction.value(of: average).floats, from: fixtures.floats("mixture.npz", "average")) <= 1)
    #expect(
      try difference(prediction.output.floats, from: fixtures.floats("mixture.npz", "dense")) <= 1)
  }

  @Test func inceptionModuleEqualsTheOneReadFromKeras() throws {
    let keras = try KerasNetwork("inception.h5")
    let input = Input(width: 7, height: 9, channels: 16)
    let network = Network(input: input, output: inceptionModule(input))
    #expect(try network.outputs[0].shape().channels == 64 + 64 + 96 + 32)
    // 1 × 1 × 16 → 64 and 48, 5 × 5 × 48 → 64, 1 × 1 × 16 → 64, 3 × 3 × 64 → 96,
    // 3 × 3 × 96 → 96, 1 × 1 × 16 → 32
    let kernels = 16 * 64 + 16 * 48 + 25 * 48 * 64 + 16 * 64 + 9 * 64 * 96 + 9 * 96 * 96 + 16 * 32
    #expect(
      try network.parameterCount() == kernels + 64 + 48 + 64 + 64 + 96 + 96 + 32)
    let value = try fixtures.tensor("inception.npz", "input")
    let own = try network.compile { name, _, kind in try keras.weights(name, kind) }
      .predict(value.elements).output
    #expect(own.shape == TensorShape(height: 9, width: 7, channels: 256))
    #expect(difference(own.floats, from: try fixtures.floats("inception.npz", "mixed")) <= 1)
    #expect(try keras.predict(value).values.first == own.floats)
  }

  @Test func narrowVGG16EqualsTheOneReadFromKeras() throws {
    let keras = try KerasNetwork("vgg16_narrow.h5")
    var vgg = VGG16(side: 32, dividedBy: 16, classes: 10)
    vgg.network.keep(vgg.fc2)
    let value = try fixtures.tensor("vgg16_narrow.npz", "input")
    let own = try vgg.network.compile { name, _, kind in try keras.weights(name, kind) }
      .predict(value.elements)
    #expect(
      try difference(
        own.value(of: vgg.fc2).floats, from: fixtures.floats("vgg16_narrow.npz", "fc2"))
        <= 1)
    #expect(
      try difference(own.output.floats, from: fixtures.floats("vgg16_narrow.npz", "predictions"))
        <= 1)
    #expect(try keras.predict(value).values.first == own.output.floats)
  }
}
