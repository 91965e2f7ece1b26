import TensorCore

/// Σ kernel · x at positions shifted by a second input, as in torchvision's `deform_conv2d`.
final class DeformableConvolution: BuiltInCustomLayer {
  static let className = "DeformableConvolution"
  static let otherNames = ["DeformConv2d", "deform_conv2d"]
  static let notes = CustomLayerNotes(
    "y[o, p] = Σ w[o, c, k] · m[k, p] · x[c, p · stride − pad + k · dilation + offset[k, p]] + b[o], bilinear between positions, 0 outside; inputs x, offset [N, 2 · groups · kh · kw, H, W] (y before x) and, for version 2, mask m [N, groups · kh · kw, H, W]",
    parameters: [
      "`kernel_h`, `kernel_w`", "`stride_h`, `stride_w`, `dilation_h`, `dilation_w` (1)",
      "`pad_h`, `pad_w` (0)", "`groups`, `deformable_groups` (1)",
    ], weights: "the kernel [O, C / groups, kh, kw]; a bias [O]")

  private let window: DeformedWindow
  private let groups: Int
  private var kernel: [Float] = []
  private var bias: [Float] = []
  private let kernels: LayerKernels

  init(parameters: [String: CustomLayerParameter]) throws {
    kernels = try LayerKernels()
    let values = CustomLayerParameters(values: parameters)
    func pair(_ name: String, _ range: ClosedRange<Int>, _ normal: Int?) throws -> (Int, Int) {
      func one(_ axis: String) throws -> Int {
        if let value = try values.int("\(name)_\(axis)", in: range) { return value }
        guard let normal else {
          throw ModelError(
            .malformed, "the parameter is missing", field: "parameters.\(name)_\(axis)")
        }
        return normal
      }
      return (try one("h"), try one("w"))
    }
    let positive = 1...Limits.dimension
    window = DeformedWindow(
      kernel: try pair("kernel", positive, nil), stride: try pair("stride", positive, 1),
      padding: try pair("pad", 0...Limits.dimension, 0),
      dilation: try pair("dilation", positive, 1),
      groups: try values.int("deformable_groups", "deformable_group", in: positive) ?? 1)
    groups = try values.int("groups", in: positive) ?? 1
  }

  func setWeights(_ weights: [CustomLayerWeight]) throws {
    try require(
      (1...2).contains(weights.count),
      "it has \(weights.count) weights; a kernel and a bias are needed", field: "weights")
    kernel = try weights[0].floats()
    bias = weights.count > 1 ? try weights[1].floats() : []
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let shapes = try inputs(inputShapes, 2...3)
    let image = try PlaneShape(planes: shapes[0])
    let (rows, columns) = try window.checkedSize(image.height, image.width)
    let taps = try checkedProduct([window.taps, window.groups], limit: Limits.dimension)
    for (shape, channels) in zip(shapes.dropFirst(), [2 * taps, taps]) {
      let own = try PlaneShape(planes: shape)
      try require(
        own == PlaneShape(image.with(channels: channels, height: rows, width: columns)),
        "an input has the shape \(shape); \(channels) channels of \(rows) × \(columns) are "
          + "needed", field: "input")
    }
    try require(
      image.channels % groups == 0 && image.channels % window.groups == 0,
      "\(image.channels) channels are not divisible by the groups", field: "parameters.groups")
    let length = try checkedProduct([image.channels / groups, window.taps])
    let outputs = kernel.count / length
    try require(
      outputs > 0 && kernel.count % length == 0 && outputs % groups == 0
        && (bias.isEmpty || bias.count == outputs),
      "\(kernel.count) values of the kernel and \(bias.count) of the bias do not fit "
        + "\(image.channels) channels in \(groups) groups", field: "weights")
    return [image.with(channels: outputs, height: rows, width: columns)]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    let (source, offset, target) = (inputs[0].first, inputs[1].first, outputs[0].first)
    let mask = inputs.count > 2 ? inputs[2].first : nil
    let (from, to) = (PlaneShape(inputs[0].shape), PlaneShape(outputs[0].shape))
    let inGroup = from.channels / groups
    let outGroup = to.channels / groups
    let taps = window.taps
    withUnsafeTemporaryAllocation(of: Float.self, capacity: to.area) { buffer in
      guard let row = buffer.baseAddress else { return }
      for image in 0..<from.images {
        let result = target + image * to.itemCount
        for channel in 0..<to.channels {
          (result + channel * to.area).update(
            repeating: bias.isEmpty ? 0 : bias[channel], count: to.area)
        }
        for channel in 0..<from.channels {
          let deformed = channel / (from.channels / window.groups)
          for tap in 0..<taps {
            let index = image * window.groups * taps + deformed * taps + tap
            window.sample(
              source + (image * from.channels + channel) * from.area, from.height, from.width,
              tap: tap, offsets: offset + 2 * index * to.area,
              mask: mask.map { $0 + index * to.area },
              into: row, rows: to.height, columns: to.width)
            let group = channel / inGroup
            for output in group * outGroup..<(group + 1) * outGroup {
              kernels.add(
                kernel[(output * inGroup + channel % inGroup) * taps + tap], row,
                to: result + output * to.area, to.area)
            }
          }
        }
      }
    }
  }
}

extension DeformedWindow {
  /// - Throws: if the window does not fit.
  func checkedSize(_ height: Int, _ width: Int) throws -> (rows: Int, columns: Int) {
    _ = try checkedProduct([kernel.height, kernel.width], limit: Limits.dimension)
    guard let size = size(height, width) else {
      throw ModelError(
        .malformed,
        "a window of \(kernel.height) × \(kernel.width), \(dilation.height) × \(dilation.width) "
          + "apart, does not fit \(height) × \(width) places")
    }
    return size
  }
}
