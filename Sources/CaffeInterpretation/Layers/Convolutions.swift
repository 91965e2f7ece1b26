import Interpretation
import TensorCore

extension CaffeOperations {
  static let convolutions: [String: CaffeOperation] = [
    "Convolution": .one { try Windows($0).convolution() },
    "ConvolutionDepthwise": .one { try Windows($0, isDepthwise: true).convolution() },
    "DepthwiseConvolution": .one { try Windows($0, isDepthwise: true).convolution() },
    "Deconvolution": .one { try Windows($0).deconvolution() },
    "Im2col": .one { try Windows($0, isIm2col: true).columns() },
  ]
}

/// base_conv_layer.cpp: the settings of a convolution over the axes after `axis`. Kernels with
/// fewer than three axes get leading axes of length 1.
private struct Windows {
  let layer: LayerRun
  let channelAxis: Int
  let items: Int
  let channels: Int
  let outputs: Int
  let groups: Int
  /// The number of spatial axes.
  let count: Int
  let size: [Int]
  let kernel: [Int]
  let stride: [Int]
  let pad: [Int]
  let dilation: [Int]
  let hasBias: Bool

  init(_ layer: LayerRun, isDepthwise: Bool = false, isIm2col: Bool = false) throws {
    self.layer = layer
    let input = layer.input
    let settings = layer.settings("convolution_param")
    channelAxis = try layer.axis(settings.int("axis"), of: input)
    count = input.rank - channelAxis - 1
    guard (1...3).contains(count) else { throw layer.missing("kernels of \(count) axes") }
    items = input.count(0..<channelAxis)
    channels = input.shape[channelAxis]
    let filler = [Int](repeating: 1, count: 3 - count)
    size = filler + input.shape[(channelAxis + 1)...]
    kernel =
      filler
      + (try settings.sizes("kernel_size", named: "kernel", count: count, default: nil, atLeast: 1))
    stride = filler + (try settings.sizes("stride", count: count, default: 1, atLeast: 1))
    pad = filler.map { _ in 0 } + (try settings.sizes("pad", count: count, default: 0))
    // DeepLab's name for the dilation.
    let gaps = settings.has("hole") || settings.has("hole_h") ? "hole" : "dilation"
    dilation = filler + (try settings.sizes(gaps, count: count, default: 1, atLeast: 1))
    outputs = isIm2col ? 0 : try settings.size("num_output")
    hasBias = try !isIm2col && settings.bool("bias_term")
    groups =
      isIm2col ? 1 : isDepthwise && !settings.has("group") ? channels : try settings.size("group")
    try layer.require(
      groups > 0 && channels % groups == 0 && outputs % groups == 0,
      "\(channels) channels and \(outputs) outputs in \(groups) groups")
  }

  private var extent: [Int] { (0..<3).map { dilation[$0] * (kernel[$0] - 1) + 1 } }

  private func convolvedSize() throws -> [Int] {
    let result = (0..<3).map { axis in
      let room = size[axis] + 2 * pad[axis] - extent[axis]
      return room < 0 ? 0 : room / stride[axis] + 1
    }
    try layer.require(result.allSatisfy { $0 > 0 }, "\(size) is smaller than its kernel \(kernel)")
    return result
  }

  private func shape(_ channels: Int, _ size: [Int]) -> [Int] {
    Array(layer.input.shape[..<channelAxis]) + ([channels] + size.suffix(count))
  }

  private func correlation(_ out: [Int]) -> Correlation {
    Correlation(
      channels: channels, outputs: outputs, groups: groups, size: size, out: out, kernel: kernel,
      stride: stride, pad: pad, dilation: dilation)
  }

  /// A result initialized with the bias, for the products to be added.
  private func biases(_ out: [Int]) throws -> DoubleArray {
    var result = try DoubleArray(shape: shape(outputs, out))
    guard hasBias else { return result }
    let bias = try layer.weight(1, shape: [outputs]).values
    let target = out.reduce(1, *)
    for index in result.values.indices { result.values[index] = bias[index / target % outputs] }
    return result
  }

  /// conv_layer.cpp: Σ w · x over the windows of each group.
  func convolution() throws -> DoubleArray {
    let out = try convolvedSize()
    let weights = try layer.rawWeight(
      0,
      count: checkedProduct(
        [outputs, channels / groups] + kernel, limit: Limits.tensorElements)
    ).array()
    var result = try biases(out)
    correlation(out).add(layer.input, weights, to: &result)
    return result
  }

  /// deconv_layer.cpp, col2im: every element adds its scaled kernel to the output.
  func deconvolution() throws -> DoubleArray {
    let out = (0..<3).map { axis -> Int in
      stride[axis] * (size[axis] - 1) + extent[axis] - 2 * pad[axis]
    }
    try layer.require(out.allSatisfy { $0 > 0 }, "its top would have the size \(out)")
    let weights = try layer.rawWeight(
      0,
      count: checkedProduct(
        [channels, outputs / groups] + kernel, limit: Limits.tensorElements)
    ).array()
    var result = try biases(out)
    correlation(out).spread(layer.input, weights, to: &result)
    return result
  }

  /// im2col_layer.cpp: one output channel per channel and kernel element.
  func columns() throws -> DoubleArray {
    let out = try convolvedSize()
    let taps = kernel.reduce(1, *)
    let windows = correlation(out)
    let number = try checkedProduct([channels, taps], limit: Limits.dimension)
    var result = try DoubleArray(shape: shape(number, out))
    let (plane, target) = (size.reduce(1, *), out.reduce(1, *))
    for item in 0..<items {
      for channel in 0..<number {
        let tap = channel % taps
        let (kz, ky, kx) = (
          tap / (kernel[1] * kernel[2]), tap / kernel[2] % kernel[1], tap % kernel[2]
        )
        let from = (item * channels + channel / taps) * plane
        let start = (item * number + channel) * target
        let z = windows.reach(0, kz)
        let v = windows.reach(1, ky)
        let h = windows.reach(2, kx)
        for (dz, oz) in z.range.enumerated() {
          for (dy, oy) in v.range.enumerated() {
            for (dx, ox) in h.range.enumerated() {
              let source =
                ((z.first + dz * stride[0]) * size[1] + v.first + dy * stride[1]) * size[2]
                + h.first + dx * stride[2]
              result.values[start + (oz * out[1] + oy) * out[2] + ox] =
                layer.input.values[from + source]
            }
          }
        }
      }
    }
    return result
  }
}
