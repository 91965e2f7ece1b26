/// Σ w · x over windows of up to three axes, in plain loops: the convolution of all frameworks.
/// Missing kernel axes have length 1.
package struct Correlation: Sendable {
  package let channels: Int
  package let outputs: Int
  package let groups: Int
  /// Sizes of the input, output and kernel along the three axes.
  package let size: [Int]
  package let out: [Int]
  package let kernel: [Int]
  package let stride: [Int]
  /// The padding before each axis.
  package let pad: [Int]
  package let dilation: [Int]

  package init(
    channels: Int, outputs: Int, groups: Int, size: [Int], out: [Int], kernel: [Int],
    stride: [Int], pad: [Int], dilation: [Int]
  ) {
    (self.channels, self.outputs, self.groups, self.size) = (channels, outputs, groups, size)
    (self.out, self.kernel, self.stride, self.pad) = (out, kernel, stride, pad)
    self.dilation = dilation
  }

  /// The outputs along an axis that a kernel tap contributes to, and the input of the first one.
  package func reach(_ axis: Int, _ tap: Int) -> (range: Range<Int>, first: Int) {
    let offset = tap * dilation[axis] - pad[axis]
    // 0 ≤ i · stride + offset < size
    let low = offset >= 0 ? 0 : (-offset + stride[axis] - 1) / stride[axis]
    let most = size[axis] - 1 - offset
    let high = most < 0 ? 0 : min(out[axis], most / stride[axis] + 1)
    return low < high ? (low..<high, low * stride[axis] + offset) : (0..<0, 0)
  }

  /// Adds the products of each group; weights are `[outputs, channels / groups]` followed by the
  /// kernel's sizes.
  package func add(_ input: DoubleArray, _ weights: [Float], to result: inout DoubleArray) {
    let (own, seen) = (outputs / groups, channels / groups)
    let taps = kernel.reduce(1, *)
    let items = input.count / max(1, channels * size.reduce(1, *))
    let (plane, target) = (size.reduce(1, *), out.reduce(1, *))
    result.values.withUnsafeMutableBufferPointer { y in
      input.values.withUnsafeBufferPointer { x in
        for item in 0..<items {
          // Processes four channels at once, so that each row is read once for all of them.
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
                    let z = reach(0, kz)
                    let v = reach(1, ky)
                    let h = reach(2, kx)
                    guard !h.range.isEmpty else { continue }
                    let step = stride[2]
                    for (dz, oz) in z.range.enumerated() {
                      for (dy, oy) in v.range.enumerated() {
                        let source =
                          from + ((z.first + dz * stride[0]) * size[1] + v.first + dy * stride[1])
                          * size[2] + h.first
                        let row =
                          (item * outputs + output) * target + (oz * out[1] + oy) * out[2]
                          + h.range.lowerBound
                        Self.add(
                          x.baseAddress! + source, step, h.range.count, factors,
                          PlaneRows(first: y.baseAddress! + row, stride: target, count: block))
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
  }

  /// The same row of up to four planes.
  private struct PlaneRows {
    let first: UnsafeMutablePointer<Double>
    let stride: Int
    let count: Int
  }

  /// Adds a row, times a factor for each, to the same row of some planes.
  @inline(__always) private static func add(
    _ x: UnsafePointer<Double>, _ step: Int, _ count: Int,
    _ factors: (Double, Double, Double, Double), _ rows: PlaneRows
  ) {
    let (y, plane, block) = (rows.first, rows.stride, rows.count)
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

  /// Adds each input element times the kernel to the output, the transpose of `add`; weights are
  /// `[channels, outputs / groups]` followed by the kernel's sizes.
  package func spread(_ input: DoubleArray, _ weights: [Float], to result: inout DoubleArray) {
    let (own, seen) = (outputs / groups, channels / groups)
    let taps = kernel.reduce(1, *)
    let items = input.count / max(1, channels * size.reduce(1, *))
    let (plane, target) = (size.reduce(1, *), out.reduce(1, *))
    result.values.withUnsafeMutableBufferPointer { y in
      input.values.withUnsafeBufferPointer { x in
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
        }
      }
    }
  }
}
