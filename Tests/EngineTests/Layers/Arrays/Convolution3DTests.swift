import CoreMLModel
import TensorCore
import TestSupport

extension Convolution3D: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    struct Case {
      var shape: [Int]
      var outputs: Int
      var kernel = [3, 3, 3]
      var stride = [1, 1, 1]
      var dilation = [1, 1, 1]
      var padding = VolumeWindow.PaddingType.valid
      var custom = [0, 0, 0, 0, 0, 0]
      var groups = 1
      var isDeconvolution = false
      var output: [Int] = []
    }
    let cases = [
      Case(shape: [1, 3, 5, 6, 7], outputs: 4),
      Case(shape: [2, 17, 4, 5, 6], outputs: 9, kernel: [1, 3, 2], padding: .same),
      Case(shape: [1, 4, 6, 7, 8], outputs: 6, stride: [2, 1, 2], padding: .same, groups: 2),
      Case(shape: [1, 2, 7, 8, 6], outputs: 3, kernel: [2, 3, 1], dilation: [2, 2, 1]),
      Case(
        shape: [1, 5, 3, 4, 5], outputs: 5, padding: .custom, custom: [2, 0, 1, 1, 0, 2], groups: 5),
      Case(
        shape: [2, 3, 3, 4, 5], outputs: 4, kernel: [2, 3, 3], stride: [2, 2, 1],
        isDeconvolution: true),
      Case(
        shape: [1, 4, 3, 4, 3], outputs: 6, stride: [2, 2, 2], padding: .same, groups: 2,
        isDeconvolution: true),
      Case(
        shape: [1, 3, 3, 3, 3], outputs: 2, stride: [2, 2, 2], isDeconvolution: true,
        output: [6, 6, 7]),
      Case(
        shape: [1, 3, 4, 3, 3], outputs: 2, padding: .custom, custom: [1, 0, 1, 1, 0, 1],
        isDeconvolution: true),
      Case(
        shape: [1, 4, 3, 4, 3], outputs: 2, kernel: [2, 3, 2], stride: [2, 1, 2],
        dilation: [2, 3, 2], groups: 2, isDeconvolution: true),
    ]
    return cases.enumerated().map { index, example in
      var layer = Convolution3D()
      layer.outputChannels = example.outputs
      layer.inputChannels = example.shape[1]
      layer.nGroups = example.groups
      layer.window.kernel = example.kernel
      layer.window.stride = example.stride
      layer.window.dilation = example.dilation
      layer.window.paddingType = example.padding
      layer.window.padding = example.custom
      layer.isDeconvolution = example.isDeconvolution
      layer.outputShape = example.output
      layer.kernel = random.weights(
        example.shape[1] * example.outputs / example.groups * example.kernel.reduce(1, *))
      layer.hasBias = index % 2 == 0
      layer.bias = layer.hasBias ? random.weights(example.outputs) : nil
      return LayerTrial("\(example)", layer, [example.shape])
    }
  }
}

extension Pooling3D: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], [Int], VolumeWindow.PaddingType)] = [
      ([2, 2, 2], [2, 2, 2], .valid), ([3, 2, 3], [1, 2, 2], .same),
      ([1, 3, 3], [1, 1, 1], .same),
      ([3, 3, 2], [2, 1, 2], .custom),
    ]
    return cases.flatMap { kernel, stride, padding in
      [(PoolingType.max, false), (.average, false), (.average, true)].map { type, excludes in
        var layer = Pooling3D()
        layer.type = type
        layer.window.kernel = kernel
        layer.window.stride = stride
        layer.window.paddingType = padding
        if padding == .custom {
          layer.window.padding = [2, 1, 1, 0, 0, 1]
        }
        layer.countExcludePadding = excludes
        let shape = random.pick([[1, 3, 4, 5, 6], [2, 17, 5, 4, 3]])
        return LayerTrial(
          "\(shape): \(kernel) every \(stride), \(padding), \(type), excludes \(excludes)", layer,
          [shape])
      }
    }
  }
}

extension GlobalPooling3D: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    PoolingType.allCases.map { type in
      var layer = GlobalPooling3D()
      layer.type = type
      return LayerTrial("\(type)", layer, [[2, 17, 3, 4, 5]])
    }
  }
}

extension NonMaximumSuppression: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [(Float(0.3), Float(0.2), 5, false), (0.5, 0.9, 40, true), (0.1, 2, 3, false)].map {
      iou, threshold, most, perClass in
      var layer = NonMaximumSuppression()
      layer.iouThreshold = iou
      layer.scoreThreshold = threshold
      layer.maxBoxes = most
      layer.perClassSuppression = perClass
      let boxes = (0..<2 * 30).flatMap { _ in
        random.values(2, in: 0...4) + random.values(2, in: 0.5...2)
      }
      return LayerTrial(
        "overlap \(iou), score \(threshold), \(most)", layer, [[2, 30, 4], [2, 30, 3]],
        range: 0...1, values: [0: boxes, 1: random.values(180, in: 0...1)])
    }
  }
}
