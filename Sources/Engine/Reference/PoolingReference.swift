import CoreMLModel
import TensorCore

extension Pooling: HalfSumLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let input = inputs[0]
    let rows = try windows(axis: 0, input: input.height, output: shape[3])
    let columns = try windows(axis: 1, input: input.width, output: shape[4])
    let output = ReferenceTensor(shape: shape) { p in
      var values: [Double] = []
      for y in rows[p.y].real {
        for x in columns[p.x].real { values.append(input[p.sequence, p.batch, p.channel, y, x]) }
      }
      switch type {
      // Padding is never the maximum; a window that is all padding gives Caffe's lowest float.
      case .max: return values.max() ?? -Double(Float.greatestFiniteMagnitude)
      case .average:
        let count =
          avgPoolExcludePadding ? values.count : rows[p.y].padded.count * columns[p.x].padded.count
        var sum = ReferenceSum(settings)
        sum.add(values)
        return sum.value / Double(count)
      case .l2: return values.reduce(0) { $0 + $1 * $1 }.squareRoot()
      }
    }
    return [output]
  }

  private struct Window {
    /// The input elements in the window.
    var real: Range<Int>
    /// The window with the padding that counts in the divisor of an average.
    var padded: Range<Int>
  }

  /// The window of each output along an axis.
  ///
  /// As in Caffe, the origin of `includeLastPixel`, a window that extends past the trailing padding
  /// is cut there before averaging.
  private func windows(axis: Int, input: Int, output: Int) throws -> [Window] {
    if globalPooling { return [Window(real: 0..<input, padded: 0..<input)] }
    let sizes = try effectiveSizes()
    let (size, step) = (sizes.kernel[axis], sizes.strides[axis])
    var leading = 0
    var trailing = 0
    switch padding {
    case .valid(let valid):
      if let amounts = valid.paddingAmounts {
        leading = axis == 0 ? amounts.top : amounts.left
        trailing = axis == 0 ? amounts.bottom : amounts.right
      }
    case .same(let same):
      (leading, trailing) = samePadding(
        covered: (output - 1) * step + size, size: input, same.asymmetryMode)
    case .includeLastPixel(let complete):
      if complete.paddingAmounts.count == 2 { leading = complete.paddingAmounts[axis] }
      trailing = leading
    case nil: break
    }
    return (0..<output).map { index in
      let start = index * step - leading
      let end = min(start + size, input + trailing)
      let first = min(max(start, 0), input)
      return Window(real: first..<max(first, min(end, input)), padded: start..<max(start, end))
    }
  }
}
