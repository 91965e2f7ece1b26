import CoreMLModel

/// Kernel, stride, dilation and padding of a layer with sliding windows, with all defaults filled
/// in; index 0 is H, 1 is W.
struct WindowGeometry: Sendable, Equatable {
  var kernel: [Int]
  var stride: [Int]
  var dilation = [1, 1]
  /// Padding before the first and after the last element.
  var start = [0, 0]
  var end = [0, 0]

  /// Extent of the dilated kernel.
  func extent(_ axis: Int) -> Int { (kernel[axis] - 1) * dilation[axis] + 1 }

  /// Rows or columns beyond each end of the input that `output` windows read.
  func reach(_ axis: Int, input: Int, output: Int) -> (before: Int, after: Int) {
    let last = (output - 1) * stride[axis] - start[axis] + extent(axis)
    return (max(0, start[axis]), max(0, last - input))
  }

  func halo(input: Shape, output: Shape) -> Halo {
    let rows = reach(0, input: input.height, output: output.height)
    let columns = reach(1, input: input.width, output: output.width)
    return Halo(top: rows.before, bottom: rows.after, left: columns.before, right: columns.after)
  }

  /// Floats from the start of a buffer to the first window.
  func origin(in layout: BlobLayout) -> Int {
    layout.origin - start[0] * layout.rowStride - start[1] * layout.pixelStride
  }

  init(kernel: [Int], stride: [Int]) {
    self.kernel = kernel
    self.stride = stride
  }

  init(_ pooling: Pooling, input: Shape) throws {
    (kernel, stride) = try pooling.effectiveSizes()
    setPadding(try pooling.explicitPadding([input.height, input.width]))
  }

  init(_ convolution: Convolution, input: Shape) throws {
    (kernel, stride, dilation) = try convolution.effectiveSizes()
    setPadding(try convolution.explicitPadding([input.height, input.width]))
  }

  private mutating func setPadding(_ padding: ExplicitPadding) {
    start = [padding.top, padding.left]
    end = [padding.bottom, padding.right]
  }
}
