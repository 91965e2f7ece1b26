import CoreMLModel
import Kernels
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// A dense layer over an image is a convolution with a kernel the size of the image: the first one
/// of VGG-16, with 7 × 7 × 512 inputs, and 16 of its 4096 outputs.
@Suite struct DenseAsConvolutionTests {
  private static let inputs = 512 * 7 * 7
  private static let outputs = 16

  @Test(arguments: InstructionSet.allCases.filter { $0.isAvailable })
  func bothAgree(_ set: InstructionSet) throws {
    var random = SplitMix64(seed: 16)
    // The scale of the weights preserves the spread of activations.
    let scale = (2 / Float(Self.inputs)).squareRoot()
    let kernel = random.values(Self.outputs * Self.inputs).map { $0 * scale }
    let bias = random.values(Self.outputs)
    var product = InnerProduct()
    product.inputChannels = Self.inputs
    product.outputChannels = Self.outputs
    product.hasBias = true
    product.matrix = Weights(kernel)
    product.bias = Weights(bias)
    var convolution = Convolution()
    convolution.outputChannels = Self.outputs
    convolution.kernelChannels = 512
    convolution.nGroups = 1
    convolution.kernelSize = [7, 7]
    convolution.stride = [1, 1]
    convolution.padding = .valid(ValidPadding())
    convolution.hasBias = true
    convolution.kernel = Weights(kernel)
    convolution.bias = Weights(bias)
    // After a ReLU half of the activations are 0.
    let input = Tensor(
      shape: [1, 1, 512, 7, 7], random.values(Self.inputs).map { max($0, 0) })
    func predict(_ layer: some LayerParameters) throws -> [Float] {
      let model = TestNetwork.model([512, 7, 7], [TestNetwork.layer("l", layer, "in", "out")])
      let answer = try TestNetwork.predict(model, input) { $0.instructionSet = set }
      return try #require(answer["out"]).elements
    }
    let dense = try predict(product)
    let convolved = try predict(convolution)
    #expect(dense.count == Self.outputs && convolved.count == Self.outputs)
    let largest = dense.reduce(0) { max($0, abs($1)) }
    for (output, (a, b)) in zip(dense, convolved).enumerated() {
      #expect(abs(a - b) <= 1e-5 * largest, "\(set) output \(output): \(a) and \(b)")
      var sum = Double(bias[output])
      for index in 0..<Self.inputs {
        sum += Double(kernel[output * Self.inputs + index]) * Double(input.elements[index])
      }
      #expect(abs(Double(a) - sum) <= 1e-5 * Double(largest), "\(set) output \(output)")
    }
  }
}
