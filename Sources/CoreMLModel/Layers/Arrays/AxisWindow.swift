import TensorCore

/// A window that moves along one axis: its geometry and the number of its positions.
package struct AxisWindow: Sendable, Equatable {
  package var kernel: Int
  package var stride: Int
  package var dilation: Int
  /// Padding before and after the axis; for a transposed window, the amounts cropped.
  package var before: Int
  package var after: Int
  package var output: Int

  package init(kernel: Int, stride: Int, dilation: Int, before: Int, after: Int, output: Int) {
    self.kernel = kernel
    self.stride = stride
    self.dilation = dilation
    self.before = before
    self.after = after
    self.output = output
  }

  /// - Parameters:
  ///   - isSame: ⌈size / stride⌉ positions (size · stride for a transposed window), with padding as
  ///     even as possible and an odd one at the end.
  ///   - output: the length of a transposed window's result, if given.
  init(
    kernel: Int, stride: Int, dilation: Int, padding: (Int, Int), isSame: Bool, size: Int,
    isTransposed: Bool = false, output given: Int? = nil
  ) throws {
    for (value, field) in [(kernel, "kernel"), (stride, "stride"), (dilation, "dilation")]
    where value < 1 || value > Limits.dimension {
      throw ModelError(.malformed, "\(value)", field: field)
    }
    try require(padding.0 >= 0 && padding.1 >= 0, "\(padding)", field: "customPadding")
    self.kernel = kernel
    self.stride = stride
    self.dilation = dilation
    let extent = try checkedSum([checkedProduct([kernel - 1, dilation]), 1])
    if isTransposed {
      let full = try checkedSum([checkedProduct([size - 1, stride]), extent])
      output = given ?? (isSame ? size * stride : full - padding.0 - padding.1)
      (before, after) = padding
      if isSame || given != nil {
        let total = max(0, full - output)
        (before, after) = (total / 2, total - total / 2)
      }
      try require(
        output > 0 && output <= Limits.dimension, "the output would have a length of \(output)")
      return
    }
    if isSame {
      output = (size - 1) / stride + 1
      let total = max(0, (output - 1) * stride + extent - size)
      (before, after) = (total / 2, total - total / 2)
      return
    }
    (before, after) = padding
    let room = try checkedSum([size, before, after]) - extent
    try require(
      room >= 0, "a window of \(extent) does not fit an axis of \(size + before + after)",
      field: "kernel")
    output = room / stride + 1
  }
}
