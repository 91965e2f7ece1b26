/// The positions of a convolution's window, shifted by offsets.
struct DeformedWindow {
  let kernel: (height: Int, width: Int)
  let stride: (height: Int, width: Int)
  let padding: (height: Int, width: Int)
  let dilation: (height: Int, width: Int)
  /// The number of channels that share offsets.
  let groups: Int

  var taps: Int { kernel.height &* kernel.width }

  /// Rows and columns of the output; nil if the window does not fit.
  func size(_ height: Int, _ width: Int) -> (rows: Int, columns: Int)? {
    func length(_ input: Int, _ kernel: Int, _ stride: Int, _ padding: Int, _ dilation: Int) -> Int?
    {
      let (reach, overflows) = dilation.multipliedReportingOverflow(by: kernel - 1)
      let room = input + 2 * padding - 1
      return overflows || reach > room ? nil : (room - reach) / stride + 1
    }
    guard
      let rows = length(height, kernel.height, stride.height, padding.height, dilation.height),
      let columns = length(width, kernel.width, stride.width, padding.width, dilation.width)
    else { return nil }
    return (rows, columns)
  }

  /// The samples at one position of the window, for all positions of the output.
  ///
  /// - Parameter offsets: a plane of row offsets, then a plane of column offsets.
  func sample(
    _ plane: UnsafePointer<Float>, _ height: Int, _ width: Int, tap: Int,
    offsets: UnsafePointer<Float>, mask: UnsafePointer<Float>?,
    into row: UnsafeMutablePointer<Float>, rows: Int, columns: Int
  ) {
    let (i, j) = tap.quotientAndRemainder(dividingBy: kernel.width)
    let area = rows * columns
    for y in 0..<rows {
      let top = Float(y * stride.height - padding.height + i * dilation.height)
      for x in 0..<columns {
        let index = y * columns + x
        let left = Float(x * stride.width - padding.width + j * dilation.width)
        let value = bilinearSample(
          plane, height, width, y: top + offsets[index], x: left + offsets[area + index])
        row[index] = mask.map { $0[index] * value } ?? value
      }
    }
  }
}
