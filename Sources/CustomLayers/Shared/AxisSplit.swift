/// Splits one axis of `[N, C, H, W]` in two, and merges one part with another axis; kraken's
/// `reshape`.
struct AxisSplit {
  let source: Int
  let parts: (a: Int, b: Int)
  let high: Int
  let low: Int

  struct Plan {
    /// `[N, C, H, W]` with the axis split, in the order of the result, with the stride of each axis
    /// in the input.
    var sizes: [Int]
    var strides: [Int]
    var shape: [Int]

    func rearrange(_ source: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>) {
      var index = 0
      for a in 0..<sizes[0] {
        for b in 0..<sizes[1] {
          for c in 0..<sizes[2] {
            for d in 0..<sizes[3] {
              let start = a * strides[0] + b * strides[1] + c * strides[2] + d * strides[3]
              for e in 0..<sizes[4] {
                target[index] = source[start + e * strides[4]]
                index += 1
              }
            }
          }
        }
      }
    }
  }

  /// - Parameter shape: a shape of four axes.
  /// - Returns: nil if the axis is not divisible into the parts.
  func plan(_ shape: [Int]) -> Plan? {
    var sizes = shape
    let length = sizes[source]
    let a = parts.a > 0 ? parts.a : length / parts.b
    let b = parts.b > 0 ? parts.b : length / parts.a
    guard a > 0, b > 0, a.multipliedReportingOverflow(by: b) == (length, false) else { return nil }
    sizes.replaceSubrange(source...source, with: [a, b])
    var strides = [Int](repeating: 1, count: 5)
    for axis in (0..<4).reversed() { strides[axis] = strides[axis + 1] * sizes[axis + 1] }
    let target = high != source ? high : low
    let moved = high != source ? source : source + 1
    let (size, stride) = (sizes.remove(at: moved), strides.remove(at: moved))
    sizes.insert(size, at: target)
    strides.insert(stride, at: target)
    var result = sizes
    result.replaceSubrange(target...target + 1, with: [sizes[target] * sizes[target + 1]])
    return Plan(sizes: sizes, strides: strides, shape: result)
  }
}
