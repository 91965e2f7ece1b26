import CoreMLModel
import TensorCore
import Testing

@testable import Engine

@Suite struct ReferenceConvolutionTests {
  private func layer(
    _ golden: Goldens, outputs: Int, kernelChannels: Int, _ kernel: [Int], stride: [Int] = [],
    dilation: [Int] = [], groups: Int = 0, _ padding: Convolution.Padding? = nil
  ) throws -> Convolution {
    var layer = Convolution()
    layer.outputChannels = outputs
    layer.kernelChannels = kernelChannels
    layer.kernelSize = kernel
    layer.stride = stride
    layer.dilationFactor = dilation
    layer.nGroups = groups
    layer.padding = padding
    layer.kernel = try golden.weights("weights")
    if golden.has("bias") {
      layer.hasBias = true
      layer.bias = try golden.weights("bias")
    }
    return layer
  }

  private func valid(_ top: Int, _ bottom: Int, _ left: Int, _ right: Int) -> Convolution.Padding {
    var padding = ValidPadding()
    padding.paddingAmounts = BorderAmounts(top: top, bottom: bottom, left: left, right: right)
    return .valid(padding)
  }

  private func same(_ mode: SamePadding.Mode) -> Convolution.Padding {
    var padding = SamePadding()
    padding.asymmetryMode = mode
    return .same(padding)
  }

  @Test func validPadding() throws {
    let plain = Goldens("convolution_valid")
    try plain.check(layer(plain, outputs: 4, kernelChannels: 3, [3, 2]))
    let groups = Goldens("convolution_groups")
    try groups.check(
      layer(
        groups, outputs: 6, kernelChannels: 2, [3, 2], stride: [2, 3], dilation: [2, 3], groups: 2,
        valid(1, 2, 0, 3)))
  }

  @Test(arguments: [
    ("bottom", SamePadding.Mode.bottomRightHeavy), ("top", SamePadding.Mode.topLeftHeavy),
  ])
  func samePadding(name: String, mode: SamePadding.Mode) throws {
    let golden = Goldens("convolution_same_\(name)")
    try golden.check(
      layer(golden, outputs: 3, kernelChannels: 2, [4, 3], stride: [2, 3], same(mode)))
    let transposed = Goldens("deconvolution_same_\(name)")
    var deconvolution = try layer(
      transposed, outputs: 2, kernelChannels: 2, [4, 5], stride: [1, 2], same(mode))
    deconvolution.isDeconvolution = true
    try transposed.check(deconvolution)
  }

  @Test func depthwise() throws {
    let golden = Goldens("convolution_depthwise_same_dilated")
    try golden.check(
      layer(
        golden, outputs: 6, kernelChannels: 1, [3, 3], dilation: [2, 2], groups: 3,
        same(.bottomRightHeavy)))
  }

  @Test func deconvolution() throws {
    let golden = Goldens("deconvolution_valid")
    var deconvolution = try layer(
      golden, outputs: 6, kernelChannels: 4, [3, 2], stride: [2, 3], groups: 2, valid(1, 0, 0, 1))
    deconvolution.isDeconvolution = true
    try golden.check(deconvolution)
  }

  /// Input i times weight k is added to output i + 2k: inputs 1, 10 and weights 1, 2 yield 1, 10,
  /// 2, 20.
  @Test func dilatedDeconvolution() throws {
    var layer = Convolution()
    (layer.outputChannels, layer.kernelChannels, layer.kernelSize) = (1, 1, [1, 2])
    (layer.stride, layer.dilationFactor) = ([1, 1], [1, 2])
    layer.padding = .valid(ValidPadding())
    layer.isDeconvolution = true
    layer.kernel = Weights([1, 2])
    let input = ReferenceTensor(shape: [1, 1, 1, 1, 2], [1, 10])
    let output = try layer.referenceOutputs([input], ReferenceSettings())
    #expect(output.map(\.shape) == [[1, 1, 1, 1, 4]])
    #expect(output.first?.elements == [1, 10, 2, 20])
  }

  @Test func deconvolutionWithSmallKernel() throws {
    let golden = Goldens("deconvolution_small_kernel")
    var deconvolution = try layer(
      golden, outputs: 2, kernelChannels: 1, [1, 1], stride: [3, 2], same(.bottomRightHeavy))
    deconvolution.isDeconvolution = true
    try golden.check(deconvolution)
  }

  @Test func deconvolutionWithOutputShape() throws {
    let golden = Goldens("deconvolution_output_shape")
    var deconvolution = try layer(
      golden, outputs: 1, kernelChannels: 2, [3, 3], stride: [2, 2], valid(0, 0, 0, 0))
    deconvolution.isDeconvolution = true
    deconvolution.outputShape = [5, 8]
    try golden.check(deconvolution)
  }
}
