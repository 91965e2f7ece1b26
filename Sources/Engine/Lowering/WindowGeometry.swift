import CoreMLModel
import TensorCore

/// Kernel, stride, dilation and padding of a layer that slides windows, all with their defaults
/// filled in; index 0 is H, 1 is W.
struct WindowGeometry: Sendable, Equatable {
  var kernel = [3, 3]
  var stride = [1, 1]
  var dilation = [1, 1]
  /// Padding before the first and after the last element.
  var start = [0, 0]
  var end = [0, 0]

  /// Extent of a dilated kernel.
  func extent(_ axis: Int) -> Int { (kernel[axis] - 1) * dilation[axis] + 1 }

  /// Rows or columns of the input beyond its start and end that `output` windows touch.
  func reach(_ axis: Int, input: Int, output: Int) -> (before: Int, after: Int) {
    let last = (output - 1) * stride[axis] - start[axis] + extent(axis)
    return (max(0, start[axis]), max(0, last - input))
  }

  func halo(input: Shape, output: Shape) -> Halo {
    let rows = reach(0, input: input.height, output: output.height)
    let columns = reach(1, input: input.width, output: output.width)
    return Halo(
      top: rows.before, bottom: rows.after, left: columns.before, right: columns.after)
  }

  fileprivate init() {}

  fileprivate mutating func setSizes(
    _ layer: LayerLowering, kernel: [Int], stride: [Int], dilation: [Int]
  ) throws {
    self.kernel = try Self.pair(kernel, [3, 3], "kernelSize")
    self.stride = try Self.pair(stride, [1, 1], "stride")
    self.dilation = try Self.pair(dilation, [1, 1], "dilationFactor")
  }

  private static func pair(_ values: [Int], _ standard: [Int], _ field: String) throws -> [Int] {
    if values.isEmpty { return standard }
    guard values.count == 2, values.allSatisfy({ $0 > 0 && $0 <= Limits.dimension }) else {
      throw ModelError(.malformed, "\(values), two positive sizes are needed", field: field)
    }
    return values
  }

  fileprivate mutating func setPadding(_ amounts: BorderAmounts?, field: String) throws {
    guard let amounts, !amounts.borderAmounts.isEmpty else { return }
    guard amounts.borderAmounts.count == 2 else {
      throw ModelError(
        .malformed, "\(amounts.borderAmounts.count) pairs of amounts, two are needed", field: field)
    }
    start = [amounts.top, amounts.left]
    end = [amounts.bottom, amounts.right]
    guard (start + end).allSatisfy({ $0 >= 0 && $0 <= Limits.dimension }) else {
      throw ModelError(.malformed, "impossible amounts", field: field)
    }
  }

  /// Splits the padding that `total` asks for.
  fileprivate mutating func setSame(_ same: SamePadding, totals: [Int]) {
    for axis in 0..<2 {
      let total = max(0, totals[axis])
      let lesser = total / 2
      let isTopLeftHeavy = same.asymmetryMode == .topLeftHeavy
      start[axis] = isTopLeftHeavy ? total - lesser : lesser
      end[axis] = total - start[axis]
    }
  }
}

extension WindowGeometry {
  init(_ pooling: Pooling, _ layer: LayerLowering) throws {
    self.init()
    try setSizes(layer, kernel: pooling.kernelSize, stride: pooling.stride, dilation: [])
    let input = layer.inputShapes[0]
    let sizes = [input.height, input.width]
    switch pooling.padding {
    case .valid(let valid): try setPadding(valid.paddingAmounts, field: "valid.paddingAmounts")
    case .same(let same):
      setSame(same, totals: sameTotals(sizes))
    case .includeLastPixel(let complete):
      let amounts = complete.paddingAmounts
      guard amounts.isEmpty || (amounts.count == 2 && amounts.allSatisfy { 0...Limits.dimension ~= $0 })
      else {
        throw ModelError(
          .malformed, "\(amounts), two amounts are needed", field: "includeLastPixel.paddingAmounts")
      }
      if amounts.count == 2 {
        start = amounts
        end = amounts
      }
    case nil: break
    }
  }

  init(_ convolution: Convolution, _ layer: LayerLowering, output: Shape) throws {
    self.init()
    try setSizes(
      layer, kernel: convolution.kernelSize, stride: convolution.stride,
      dilation: convolution.isDeconvolution ? [] : convolution.dilationFactor)
    let input = layer.inputShapes[0]
    let sizes = [input.height, input.width]
    let results = [output.height, output.width]
    if convolution.isDeconvolution {
      // What a full transposed convolution has more than the output is cut off its borders.
      let surplus = (0..<2).map { (sizes[$0] - 1) * stride[$0] + kernel[$0] - results[$0] }
      switch convolution.padding {
      case .same(let same): setSame(same, totals: surplus)
      case .valid(let valid):
        try setPadding(valid.paddingAmounts, field: "valid.paddingAmounts")
        if !convolution.outputShape.isEmpty { setSame(SamePadding(), totals: surplus) }
      case nil:
        if !convolution.outputShape.isEmpty { setSame(SamePadding(), totals: surplus) }
      }
      return
    }
    switch convolution.padding {
    case .valid(let valid): try setPadding(valid.paddingAmounts, field: "valid.paddingAmounts")
    case .same(let same): setSame(same, totals: sameTotals(sizes))
    case nil: break
    }
  }

  private func sameTotals(_ sizes: [Int]) -> [Int] {
    (0..<2).map { axis in
      let output = (sizes[axis] + stride[axis] - 1) / stride[axis]
      return (output - 1) * stride[axis] + extent(axis) - sizes[axis]
    }
  }
}
