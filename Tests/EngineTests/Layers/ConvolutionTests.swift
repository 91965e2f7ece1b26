import CoreMLModel
import TensorCore
import TestSupport

extension Convolution: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    (0..<70).map { convolution(&random, $0) } + (0..<50).map { deconvolution(&random, $0) }
  }

  /// Input channels, output channels and groups.
  private static let channels = [
    (1, 1, 1), (3, 5, 1), (8, 8, 1), (16, 16, 1), (17, 33, 1), (32, 48, 1), (20, 7, 1), (8, 24, 2),
    (12, 9, 3), (6, 6, 6), (5, 10, 5), (16, 16, 16), (19, 19, 19), (32, 64, 32), (64, 16, 2),
  ]

  private static func convolution(_ random: inout SplitMix64, _ index: Int) -> LayerTrial {
    let (inputs, outputs, groups) = random.pick(channels)
    var layer = Convolution()
    layer.outputChannels = outputs
    layer.kernelChannels = inputs / groups
    layer.nGroups = groups == 1 && random.flag() ? 0 : groups
    layer.kernelSize = random.pick([[1, 1], [3, 3], [3, 3], [2, 5], [5, 1], [7, 7], []])
    layer.stride = random.pick([[], [1, 1], [2, 2], [1, 3], [3, 2]])
    layer.dilationFactor = random.pick([[], [1, 1], [1, 1], [2, 3]])
    let kernel = layer.kernelSize.isEmpty ? [3, 3] : layer.kernelSize
    let dilation = layer.dilationFactor.isEmpty ? [1, 1] : layer.dilationFactor
    let covered = (0..<2).map { (kernel[$0] - 1) * dilation[$0] + 1 }
    switch random.number(0...3) {
    case 0: layer.padding = .same(SamePadding(.bottomRightHeavy))
    case 1: layer.padding = .same(SamePadding(.topLeftHeavy))
    case 2:
      layer.padding = .valid(
        ValidPadding(
          random.number(0...2), random.number(0...3), random.number(0...2), random.number(0...3)))
    default: break
    }
    layer.kernel = random.weights(outputs * (inputs / groups) * kernel[0] * kernel[1])
    layer.hasBias = random.flag()
    if layer.hasBias { layer.bias = random.weights(outputs) }
    let shape = [
      random.pick([1, 1, 2]), random.pick([1, 1, 3]), inputs,
      covered[0] + random.number(0...14), covered[1] + random.number(0...17),
    ]
    return LayerTrial(
      "\(index): \(shape) to \(outputs), \(groups) groups, kernel \(kernel), stride"
        + " \(layer.stride), dilation \(dilation), \(layer.padding as Any)", layer, [shape])
  }

  private static func deconvolution(_ random: inout SplitMix64, _ index: Int) -> LayerTrial {
    let (inputs, outputs, groups) = random.pick(channels)
    var layer = Convolution()
    layer.isDeconvolution = true
    layer.outputChannels = outputs
    layer.kernelChannels = inputs
    layer.nGroups = groups
    let kernel = random.pick([[1, 1], [2, 2], [3, 3], [4, 4], [2, 5], [5, 3]])
    let stride = random.pick([[1, 1], [2, 2], [1, 3], [3, 2]])
    layer.kernelSize = kernel
    layer.stride = stride
    layer.dilationFactor = random.pick([[], [2, 2]])
    let shape = [
      random.pick([1, 1, 2]), random.pick([1, 2]), inputs, random.number(2...9),
      random.number(2...9),
    ]
    switch random.number(0...4) {
    case 0: layer.padding = .same(SamePadding(.bottomRightHeavy))
    case 1: layer.padding = .same(SamePadding(.topLeftHeavy))
    case 2: layer.padding = .valid(ValidPadding(kernel[0] / 2, 0, 0, kernel[1] / 2))
    case 3:
      // The result of Keras's `same` and `valid` for this input.
      layer.padding = .valid(ValidPadding())
      layer.outputShape = (0..<2).map { axis in
        shape[3 + axis] * stride[axis] + (random.flag() ? 0 : max(kernel[axis] - stride[axis], 0))
      }
    default: break
    }
    layer.kernel = random.weights(inputs * (outputs / groups) * kernel[0] * kernel[1])
    layer.hasBias = random.flag()
    if layer.hasBias { layer.bias = random.weights(outputs) }
    return LayerTrial(
      "transposed \(index): \(shape) to \(outputs), \(groups) groups, kernel \(kernel), stride"
        + " \(stride), \(layer.padding as Any), \(layer.outputShape)", layer, [shape])
  }
}
