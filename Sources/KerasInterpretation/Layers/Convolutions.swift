import Interpretation
import TensorCore

/// Convolutions; their inputs are converted to the layout `[batch, channels, …]` with three axes.
enum Convolutions {
  static let operations: [String: KerasOperations.Operation] = {
    var table: [String: KerasOperations.Operation] = [:]
    for name in [
      "Conv1D", "Conv2D", "Conv3D", "Convolution1D", "Convolution2D", "Convolution3D",
      "AtrousConvolution1D", "AtrousConvolution2D", "DepthwiseConv2D", "DepthwiseConv1D",
      "SeparableConv1D", "SeparableConv2D", "SeparableConvolution2D",
    ] {
      table[name] = convolution
    }
    for name in ["Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose", "Deconvolution2D"] {
      table[name] = transposed
    }
    return table
  }()

  /// The kernel in Keras 2's layout, `[axes…, in, out]`, flipped if Theano trained it. Keras 2
  /// flips only kernels of the plain classes when it loads them (`preprocess_weights_for_loading`).
  private static func kernel(_ run: LayerRun, _ index: Int) throws -> DoubleArray {
    var kernel = try run.weight(index)
    if run.generation.major == 1 {
      // Keras 1 stores one-dimensional kernels with two spatial axes.
      if run.axes == 1, kernel.rank == 4 {
        if kernel.shape[1] != 1 { kernel = kernel.transposed([2, 3, 1, 0]) }
        kernel = try kernel.reshaped([kernel.shape[0]] + kernel.shape[2...])
      } else if run.isChannelsFirst {
        kernel = kernel.transposed(Array(2..<kernel.rank) + [1, 0])
      }
    }
    try run.require(kernel.rank == run.axes + 2, "a kernel of shape \(kernel.shape)")
    let isPlain = ["Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose"].contains(run.className)
    let isFlipped = run.generation.isTheano && (run.generation.major == 1 || isPlain)
    return isFlipped ? flipped(kernel, run.axes) : kernel
  }

  private static func flipped(_ kernel: DoubleArray, _ axes: Int) -> DoubleArray {
    let taps = kernel.count(0..<axes)
    let inner = taps == 0 ? 0 : kernel.count / taps
    var result = kernel
    for tap in 0..<taps {
      for index in 0..<inner {
        result.values[tap * inner + index] = kernel.values[(taps - 1 - tap) * inner + index]
      }
    }
    return result
  }

  private static func convolution(_ run: LayerRun) throws -> [KerasValue] {
    let axes = run.axes
    try run.require(rank: axes + 2)
    let x = run.planes(run.input)
    let first = try kernel(run, 0)
    let isSeparable = run.className.hasPrefix("Separable")
    var result: DoubleArray
    if isSeparable || run.className.hasPrefix("Depthwise") {
      result = try correlate(run, x, depthwise(first), groups: x.shape[1], stepped: true)
      if isSeparable {
        result = try correlate(run, result, dense(try kernel(run, 1)), groups: 1, stepped: false)
      }
    } else {
      result = try correlate(
        run, x, dense(first), groups: run.field("groups")?.int ?? 1, stepped: true)
    }
    return [KerasValue(array: try biased(run, result, isSeparable ? 2 : 1))]
  }

  private static func biased(
    _ run: LayerRun, _ planes: DoubleArray, _ index: Int
  ) throws -> DoubleArray {
    var result = planes
    if run.weights.count > index {
      let bias = try run.vector(index, planes.shape[1])
      let inner = planes.count(2..<planes.rank)
      for index in result.values.indices {
        result.values[index] += bias[index / inner % bias.count]
      }
    }
    return try run.activated(run.layout(result), "activation")
  }

  /// Transposes the kernel to `[out, in, axes…]`.
  static func dense(_ kernel: DoubleArray) -> DoubleArray {
    kernel.transposed([kernel.rank - 1, kernel.rank - 2] + Array(0..<kernel.rank - 2))
  }

  /// Transposes the kernel to `[in · multiplier, 1, axes…]`.
  private static func depthwise(_ kernel: DoubleArray) throws -> DoubleArray {
    let axes = kernel.rank - 2
    let turned = kernel.transposed([axes, axes + 1] + Array(0..<axes))
    return try turned.reshaped([turned.shape[0] * turned.shape[1], 1] + Array(turned.shape[2...]))
  }

  static func correlate(
    _ run: LayerRun, _ x: DoubleArray, _ kernel: DoubleArray, groups: Int, stepped: Bool
  ) throws -> DoubleArray {
    let axes = x.rank - 2
    guard groups >= 1, x.shape[1] == kernel.shape[1] * groups, kernel.shape[0] % groups == 0 else {
      throw ModelError(.mismatch, "the kernel \(kernel.shape) does not fit \(x.shape[1]) channels")
    }
    let stride =
      stepped
      ? try run.sizes("strides", "subsample", "subsample_length", count: axes)
      : [Int](repeating: 1, count: axes)
    let dilation =
      stepped
      ? try run.sizes("dilation_rate", "atrous_rate", count: axes)
      : [Int](repeating: 1, count: axes)
    let padding = stepped ? run.field("padding", "border_mode")?.string ?? "valid" : "valid"
    let size = Array(x.shape[2...])
    let windows = try zip(size.indices, size).map { axis, length in
      try Window(
        run, length: length, kernel: (kernel.shape[axis + 2] - 1) * dilation[axis] + 1,
        stride: stride[axis], padding: padding)
    }
    func full(_ values: [Int], _ fill: Int) -> [Int] {
      [Int](repeating: fill, count: 3 - axes) + values
    }
    var result = try DoubleArray(shape: [x.shape[0], kernel.shape[0]] + windows.map(\.count))
    Correlation(
      channels: x.shape[1], outputs: kernel.shape[0], groups: groups, size: full(size, 1),
      out: full(windows.map(\.count), 1), kernel: full(Array(kernel.shape[2...]), 1),
      stride: full(stride, 1), pad: full(windows.map(\.before), 0), dilation: full(dilation, 1)
    ).add(x, kernel.values.map(Float.init), to: &result)
    return result
  }

  /// The transpose of a convolution: TensorFlow's `conv2d_transpose`.
  private static func transposed(_ run: LayerRun) throws -> [KerasValue] {
    let axes = run.axes
    try run.require(rank: axes + 2)
    let x = run.planes(run.input)
    let isKeras1 = run.generation.major == 1
    // The kernel is [axes…, out, in], or [axes…, in, out] in Keras 1.
    let stored = try isKeras1 ? self.kernel(run, 0) : run.weight(0, rank: axes + 2)
    let kernel = stored.transposed(
      (isKeras1 ? [axes, axes + 1] : [axes + 1, axes]) + Array(0..<axes))
    guard kernel.shape[0] == x.shape[1] else {
      throw ModelError(.mismatch, "the kernel \(stored.shape) does not fit \(x.shape[1]) channels")
    }
    let stride = try run.sizes("strides", "subsample", count: axes)
    let dilation = try run.sizes("dilation_rate", count: axes)
    let isSame = run.field("padding", "border_mode")?.string == "same"
    let declared = isKeras1 ? try outputSizes(run) : nil
    let extra = run.field("output_padding")?.list
    var (out, pad) = ([Int](), [Int]())
    for axis in 0..<axes {
      let reach = (kernel.shape[axis + 2] - 1) * dilation[axis] + 1
      let length = x.shape[axis + 2]
      if let declared {
        out.append(declared[axis])
      } else if let extra, extra.indices.contains(axis) {
        let cut = isSame ? reach / 2 : 0
        out.append((length - 1) * stride[axis] + reach - 2 * cut + extra[axis])
      } else {
        out.append(length * stride[axis] + (isSame ? 0 : max(reach - stride[axis], 0)))
      }
      // The front padding of the corresponding convolution with 'same' padding.
      pad.append(isSame ? max(0, (length - 1) * stride[axis] + reach - out[axis]) / 2 : 0)
    }
    func full(_ values: [Int], _ fill: Int) -> [Int] {
      [Int](repeating: fill, count: 3 - axes) + values
    }
    var result = try DoubleArray(shape: [x.shape[0], kernel.shape[1]] + out)
    Correlation(
      channels: x.shape[1], outputs: kernel.shape[1], groups: 1,
      size: full(Array(x.shape[2...]), 1), out: full(out, 1),
      kernel: full(Array(kernel.shape[2...]), 1), stride: full(stride, 1), pad: full(pad, 0),
      dilation: full(dilation, 1)
    ).spread(x, kernel.values.map(Float.init), to: &result)
    return [KerasValue(array: try biased(run, result, 1))]
  }
}

extension Convolutions {
  /// The output sizes that Keras 1's Deconvolution2D declares, which may exceed the region that the
  /// products cover.
  private static func outputSizes(_ run: LayerRun) throws -> [Int] {
    let shape = run.field("output_shape")?.array?.map(\.int) ?? []
    let sizes = shape.count == 4 ? (run.isChannelsFirst ? shape[2...] : shape[1..<3]) : []
    let known = sizes.compactMap { $0 }
    try run.require(
      known.count == 2 && known.allSatisfy { (1...1 << 20).contains($0) },
      "its field 'output_shape'")
    return known
  }
}

/// The number of windows along an axis, and the padding before it, as in TensorFlow.
struct Window {
  let count: Int
  let before: Int

  init(_ run: LayerRun, length: Int, kernel: Int, stride: Int, padding: String) throws {
    switch padding {
    case "valid": (count, before) = (length < kernel ? 0 : (length - kernel) / stride + 1, 0)
    case "causal": (count, before) = ((length - 1) / stride + 1, kernel - 1)
    case "same":
      count = (length + stride - 1) / stride
      before = max(0, (count - 1) * stride + kernel - length) / 2
    default: throw run.missing("the padding '\(padding)' is not interpreted")
    }
    guard count > 0 else { throw ModelError(.mismatch, "a window of \(kernel) in \(length)") }
  }
}
