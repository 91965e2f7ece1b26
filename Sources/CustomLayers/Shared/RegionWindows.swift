/// Pooling of regions `(image, x₁, y₁, x₂, y₂)`: each region is divided into windows, and each
/// channel gives one value per window.
struct RegionWindows {
  let rows: Int
  let columns: Int
  /// The factor from region coordinates to those of the image.
  let scale: Float

  struct Regions {
    let source: UnsafePointer<Float>
    let shape: PlaneShape
    /// The regions, with five numbers each.
    let regions: UnsafePointer<Float>
    let count: Int
  }

  private typealias Region = (image: Int, x1: Float, y1: Float, x2: Float, y2: Float)

  /// The maximum of each window, with rounded corners of regions, as in Fast R-CNN.
  func maxima(_ input: Regions, to target: UnsafeMutablePointer<Float>) {
    let shape = input.shape
    pool(input, to: target, channels: shape.channels) { region in
      let (left, top) = ((region.x1 * scale).rounded(), (region.y1 * scale).rounded())
      let width = max((region.x2 * scale).rounded() - left + 1, 1)
      let height = max((region.y2 * scale).rounded() - top + 1, 1)
      return { channel, row, column in
        let plane = input.source + (region.image * shape.channels + channel) * shape.area
        let rows = window(row, height / Float(self.rows), top, shape.height)
        let columns = window(column, width / Float(self.columns), left, shape.width)
        var greatest = rows.isEmpty || columns.isEmpty ? 0 : -Float.greatestFiniteMagnitude
        for y in rows { for x in columns { greatest = max(greatest, plane[y * shape.width + x]) } }
        return greatest
      }
    }
  }

  /// The mean of each window, with different channels for every window, as in R-FCN.
  func groupMeans(_ input: Regions, to target: UnsafeMutablePointer<Float>) {
    let shape = input.shape
    pool(input, to: target, channels: shape.channels / (rows * columns)) { region in
      let (left, top) = (region.x1.rounded() * scale, region.y1.rounded() * scale)
      let width = max((region.x2.rounded() + 1) * scale - left, 0.1)
      let height = max((region.y2.rounded() + 1) * scale - top, 0.1)
      return { channel, row, column in
        let rows = window(row, height / Float(self.rows), top, shape.height)
        let columns = window(column, width / Float(self.columns), left, shape.width)
        let own = (channel * self.rows + row) * self.columns + column
        let plane = input.source + (region.image * shape.channels + own) * shape.area
        var sum = 0.0
        for y in rows { for x in columns { sum += Double(plane[y * shape.width + x]) } }
        let count = rows.count * columns.count
        return count == 0 ? 0 : Float(sum / Double(count))
      }
    }
  }

  /// The mean of interpolated samples in each window, as in torchvision.
  ///
  /// - Parameter ratio: the number of samples along each axis of a window; 0 for one per position.
  func sampleMeans(
    _ input: Regions, ratio: Int, isAligned: Bool, to target: UnsafeMutablePointer<Float>
  ) {
    let shape = input.shape
    let offset: Float = isAligned ? 0.5 : 0
    pool(input, to: target, channels: shape.channels) { region in
      let (left, top) = (region.x1 * scale - offset, region.y1 * scale - offset)
      var width = region.x2 * scale - offset - left
      var height = region.y2 * scale - offset - top
      if !isAligned {
        width = max(width, 1)
        height = max(height, 1)
      }
      let (binHeight, binWidth) = (height / Float(rows), width / Float(columns))
      // More samples than positions in the image add no information.
      func samples(_ bin: Float, _ length: Int) -> Int {
        ratio > 0 ? ratio : limited(bin.rounded(.up), 2 * length + 2)
      }
      let (down, across) = (samples(binHeight, shape.height), samples(binWidth, shape.width))
      return { channel, row, column in
        let plane = input.source + (region.image * shape.channels + channel) * shape.area
        var sum: Float = 0
        for i in 0..<down {
          let y = top + Float(row) * binHeight + (Float(i) + 0.5) * binHeight / Float(down)
          for j in 0..<across {
            let x = left + Float(column) * binWidth + (Float(j) + 0.5) * binWidth / Float(across)
            sum += clampedSample(plane, shape.height, shape.width, y: y, x: x)
          }
        }
        return sum / Float(max(1, down * across))
      }
    }
  }

  /// Writes one value for each window of each channel of each region.
  ///
  /// - Parameter values: returns, for a region, the value of a channel's window at a row and a
  ///   column.
  private func pool(
    _ input: Regions, to target: UnsafeMutablePointer<Float>, channels: Int,
    _ values: (Region) -> (_ channel: Int, _ row: Int, _ column: Int) -> Float
  ) {
    var target = target
    for index in 0..<input.count {
      let numbers = input.regions + 5 * index
      let image = numbers[0]
      // A position that fits an Int; NaN counts as 0.
      func limited(_ value: Float) -> Float { value.isNaN ? 0 : min(max(value, -1e6), 1e6) }
      let value = values(
        (
          image >= 0 && image < Float(input.shape.images) ? Int(image) : 0, limited(numbers[1]),
          limited(numbers[2]), limited(numbers[3]), limited(numbers[4])
        ))
      for channel in 0..<channels {
        for row in 0..<rows {
          for column in 0..<columns {
            target.pointee = value(channel, row, column)
            target += 1
          }
        }
      }
    }
  }

  /// The positions of `length` that a window covers, starting at `start`.
  private func window(_ index: Int, _ bin: Float, _ start: Float, _ length: Int) -> Range<Int> {
    let low = limited((Float(index) * bin + start).rounded(.down), length)
    return low..<max(low, limited((Float(index + 1) * bin + start).rounded(.up), length))
  }

  /// A position from 0 to `length`; NaN counts as 0.
  private func limited(_ position: Float, _ length: Int) -> Int {
    position > 0 ? Int(min(position, Float(length))) : 0
  }

  /// Interpolates between four positions; up to one beyond the border counts as the border,
  /// anything farther as 0.
  private func clampedSample(
    _ plane: UnsafePointer<Float>, _ height: Int, _ width: Int, y: Float, x: Float
  ) -> Float {
    guard y >= -1, y <= Float(height), x >= -1, x <= Float(width) else { return 0 }
    return bilinearSample(
      plane, height, width, y: min(max(y, 0), Float(height - 1)),
      x: min(max(x, 0), Float(width - 1)))
  }
}
