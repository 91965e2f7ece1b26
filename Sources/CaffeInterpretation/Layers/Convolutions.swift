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

/// base_conv_layer.cpp: the settings of a convolution over the axes behind `axis`. Kernels of fewer
/// than three axes have axes of length 1 in front.
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
      + (try settings.sizes(
        "kernel_size", named: "kernel", count: count, default: nil, atLeast: 1))
    stride = filler + (try settings.sizes("stride", count: count, default: 1, atLeast: 1))
    pad = filler.map { _ in 0 } + (try settings.sizes("pad", count: count, default: 0))
    // DeepLab's name of dilation.
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
    layer.input.shape[..<channelAxis] + [channels] + size.suffix(count)
  }

  /// The outputs that tap `tap` of the kernel reaches along an axis, and the input of the first one.
  private func reach(_ axis: Int, _ tap: Int, _ length: Int) -> (range: Range<Int>, first: Int) {
    let offset = tap * dilation[axis] - pad[axis]
    // 0 ≤ i · stride + offset < size
    let low = offset >= 0 ? 0 : (-offset + stride[axis] - 1) / stride[axis]
    let most = size[axis] - 1 - offset
    let high = most < 0 ? 0 : min(length, most / stride[axis] + 1)
    return low < high ? (low..<high, low * stride[axis] + offset) : (0..<0, 0)
  }

  /// conv_layer.cpp: Σ w · x over the windows of each group.
  func convolution() throws -> DoubleArray {
    let out = try convolvedSize()
    let (own, seen) = (outputs / groups, channels / groups)
    let taps = kernel.reduce(1, *)
    let weights = try layer.rawWeight(
      0, count: checkedProduct([outputs, seen, taps], limit: Limits.tensorElements)
    ).array()
    let bias = hasBias ? try layer.weight(1, shape: [outputs]).values : nil
    var result = try DoubleArray(shape: shape(outputs, out))
    let (plane, target) = (size.reduce(1, *), out.reduce(1, *))
    result.values.withUnsafeMutableBufferPointer { y in
      layer.input.values.withUnsafeBufferPointer { x in
        for item in 0..<items {
          for output in 0..<outputs {
            let start = (item * outputs + output) * target
            if let bias { for index in 0..<target { y[start + index] = bias[output] } }
          }
          // Channels of a group together, so that a row is read once for four of them.
          var output = 0
          while output < outputs {
            let group = output / own
            let block = min(4, (group + 1) * own - output)
            for channel in 0..<seen {
              let from = (item * channels + group * seen + channel) * plane
              var tap = 0
              for kz in 0..<kernel[0] {
                for ky in 0..<kernel[1] {
                  for kx in 0..<kernel[2] {
                    var factors = (0.0, 0.0, 0.0, 0.0)
                    func factor(_ index: Int) -> Double {
                      index < block
                        ? Double(weights[((output + index) * seen + channel) * taps + tap]) : 0
                    }
                    factors = (factor(0), factor(1), factor(2), factor(3))
                    tap += 1
                    let z = reach(0, kz, out[0])
                    let v = reach(1, ky, out[1])
                    let h = reach(2, kx, out[2])
                    guard !h.range.isEmpty else { continue }
                    let step = stride[2]
                    for (dz, oz) in z.range.enumerated() {
                      for (dy, oy) in v.range.enumerated() {
                        let source =
                          from
                          + ((z.first + dz * stride[0]) * size[1] + v.first + dy * stride[1])
                          * size[2] + h.first
                        let row =
                          (item * outputs + output) * target + (oz * out[1] + oy) * out[2]
                          + h.range.lowerBound
                        Self.add(
                          x.baseAddress! + source, step, h.range.count, factors,
                          y.baseAddress! + row, target, block)
                      }
                    }
                  }
                }
              }
            }
            output += block
          }
        }
      }
    }
    return result
  }

  /// Adds a row, times a factor for each, to the same row of up to four planes.
  @inline(__always) private static func add(
    _ x: UnsafePointer<Double>, _ step: Int, _ count: Int,
    _ factors: (Double, Double, Double, Double), _ y: UnsafeMutablePointer<Double>, _ plane: Int,
    _ block: Int
  ) {
    if block == 4 {
      let (a, b, c, d) = (y, y + plane, y + 2 * plane, y + 3 * plane)
      if step == 1 {
        for index in 0..<count {
          let value = x[index]
          a[index] += factors.0 * value
          b[index] += factors.1 * value
          c[index] += factors.2 * value
          d[index] += factors.3 * value
        }
      } else {
        for index in 0..<count {
          let value = x[index * step]
          a[index] += factors.0 * value
          b[index] += factors.1 * value
          c[index] += factors.2 * value
          d[index] += factors.3 * value
        }
      }
      return
    }
    for index in 0..<count { y[index] += factors.0 * x[index * step] }
    if block > 1 { for index in 0..<count { y[plane + index] += factors.1 * x[index * step] } }
    if block > 2 { for index in 0..<count { y[2 * plane + index] += factors.2 * x[index * step] } }
  }

  /// deconv_layer.cpp, col2im: every element spreads its kernel over the output.
  func deconvolution() throws -> DoubleArray {
    let out = (0..<3).map { stride[$0] * (size[$0] - 1) + extent[$0] - 2 * pad[$0] }
    try layer.require(out.allSatisfy { $0 > 0 }, "its top would have the size \(out)")
    let (own, seen) = (outputs / groups, channels / groups)
    let taps = kernel.reduce(1, *)
    let weights = try layer.rawWeight(
      0, count: checkedProduct([channels, own, taps], limit: Limits.tensorElements)
    ).array()
    let bias = hasBias ? try layer.weight(1, shape: [outputs]).values : nil
    var result = try DoubleArray(shape: shape(outputs, out))
    let (plane, target) = (size.reduce(1, *), out.reduce(1, *))
    result.values.withUnsafeMutableBufferPointer { y in
      layer.input.values.withUnsafeBufferPointer { x in
        for item in 0..<items {
          for channel in 0..<channels {
            let from = (item * channels + channel) * plane
            for index in 0..<own {
              let output = channel / seen * own + index
              let start = (item * outputs + output) * target
              for tap in 0..<taps {
                let factor = Double(weights[(channel * own + index) * taps + tap])
                let (kz, ky, kx) = (
                  tap / (kernel[1] * kernel[2]), tap / kernel[2] % kernel[1], tap % kernel[2]
                )
                for z in 0..<size[0] {
                  let oz = z * stride[0] + kz * dilation[0] - pad[0]
                  guard oz >= 0, oz < out[0] else { continue }
                  for v in 0..<size[1] {
                    let oy = v * stride[1] + ky * dilation[1] - pad[1]
                    guard oy >= 0, oy < out[1] else { continue }
                    let row = start + (oz * out[1] + oy) * out[2]
                    let source = from + (z * size[1] + v) * size[2]
                    for h in 0..<size[2] {
                      let ox = h * stride[2] + kx * dilation[2] - pad[2]
                      if ox >= 0, ox < out[2] { y[row + ox] += factor * x[source + h] }
                    }
                  }
                }
              }
            }
          }
          guard let bias else { continue }
          for output in 0..<outputs {
            let start = (item * outputs + output) * target
            for index in 0..<target { y[start + index] += bias[output] }
          }
        }
      }
    }
    return result
  }

  /// im2col_layer.cpp: a channel for each channel and tap.
  func columns() throws -> DoubleArray {
    let out = try convolvedSize()
    let taps = kernel.reduce(1, *)
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
        let z = reach(0, kz, out[0])
        let v = reach(1, ky, out[1])
        let h = reach(2, kx, out[2])
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
