import TensorCore

/// A window that moves along one axis: its geometry and the number of its positions.
package struct AxisWindow: Sendable, Equatable {
  package var kernel: Int
  package var stride: Int
  package var dilation: Int
  /// Padding before and after the axis; for a transposed window, the amounts cropped.
  package var before = 0
  package var after = 0
  package var output: Int

  /// Each element by itself.
  package static func elements(_ count: Int) -> AxisWindow {
    AxisWindow(kernel: 1, stride: 1, dilation: 1, output: count)
  }
}

extension AxisWindow {
  init(kernel: Int, stride: Int, dilation: Int) throws {
    for (value, field) in [(kernel, "kernel"), (stride, "stride"), (dilation, "dilation")]
    where value < 1 || value > Limits.dimension {
      throw ModelError(.malformed, "\(value)", field: field)
    }
    self.init(kernel: kernel, stride: stride, dilation: dilation, output: 0)
  }

  private func extent() throws -> Int {
    try checkedSum([checkedProduct([kernel - 1, dilation]), 1])
  }

  private mutating func pad(_ padding: (Int, Int)) throws {
    try require(padding.0 >= 0 && padding.1 >= 0, "\(padding)", field: "customPadding")
    (before, after) = padding
  }

  private mutating func divide(_ padding: Int) {
    (before, after) = (padding / 2, padding - padding / 2)
  }

  /// A transposed window with size · stride positions if `isSame`, with an odd amount cropped at the
  /// end; `given` is the length of its result, if stated.
  mutating func fit(
    transposedTo size: Int, padding: (Int, Int), isSame: Bool, output given: Int?
  ) throws {
    try pad(padding)
    let full = try checkedSum([checkedProduct([size - 1, stride]), extent()])
    output = given ?? (isSame ? size * stride : full - before - after)
    if isSame || given != nil { divide(max(0, full - output)) }
    try require(
      output > 0 && output <= Limits.dimension, "the output would have a length of \(output)")
  }

  /// A window with ⌈size / stride⌉ positions if `isSame`, with padding as even as possible and an odd
  /// one at the end.
  mutating func fit(_ size: Int, padding: (Int, Int), isSame: Bool) throws {
    try pad(padding)
    let extent = try extent()
    if isSame {
      output = (size - 1) / stride + 1
      return divide(max(0, (output - 1) * stride + extent - size))
    }
    let room = try checkedSum([size, before, after]) - extent
    try require(
      room >= 0, "a window of \(extent) does not fit an axis of \(size + before + after)",
      field: "kernel")
    output = room / stride + 1
  }
}
