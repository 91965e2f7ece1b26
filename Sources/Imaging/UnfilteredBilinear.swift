/// Bilinear interpolation between only the four samples around a point, even if the image shrinks.
/// The center of new sample i is at `(i + ½) · scale − ½` in old samples; beyond the edge, the
/// outermost samples are repeated.
extension Image {
  /// Equal to TensorFlow's `tf.image.resize`, in single precision and without rounding.
  ///
  /// - Parameters:
  ///   - width: the row width of `target`.
  ///   - target: `[height, width, channelCount]`; values outside the placement are not written.
  func resizeWithoutFilter(
    _ placement: ImagePlacement, width: Int, into target: UnsafeMutableBufferPointer<Float>
  ) {
    let columns = Self.neighbors(
      placement.source.left, placement.source.right, to: placement.width, of: self.width)
    let rows = Self.neighbors(
      placement.source.top, placement.source.bottom, to: placement.height, of: self.height)
    samples.withUnsafeBytes { source in
      for (y, row) in rows.enumerated() {
        let first = row.first &* self.width
        let second = row.second &* self.width
        var to = ((placement.top + y) * width + placement.left) * channelCount
        for column in columns {
          for channel in 0..<channelCount {
            func sample(_ start: Int, _ column: Int) -> Float {
              Float(source[(start &+ column) &* channelCount &+ channel])
            }
            let (topLeft, topRight) = (sample(first, column.first), sample(first, column.second))
            let bottomLeft = sample(second, column.first)
            let bottomRight = sample(second, column.second)
            let top = topLeft + (topRight - topLeft) * column.share
            let bottom = bottomLeft + (bottomRight - bottomLeft) * column.share
            target[to] = top + (bottom - top) * row.share
            to &+= 1
          }
        }
      }
    }
  }

  /// Like `resizeWithoutFilter`, but rounded to 8 bits.
  func resizedAsTensorFlow(width: Int, height: Int, of region: Box) throws -> Image {
    try mapped(width: width, height: height) { _, target in
      var values = [Float](repeating: 0, count: target.count)
      let placement = ImagePlacement(
        source: region, left: 0, top: 0, width: width, height: height)
      values.withUnsafeMutableBufferPointer {
        resizeWithoutFilter(placement, width: width, into: $0)
      }
      for index in target.indices { target[index] = UInt8(rounding: values[index]) }
    }
  }

  /// The two samples around a point, and the weight of the second one.
  private struct Neighbors {
    let first: Int
    let second: Int
    let share: Float
  }

  private static func neighbors(
    _ start: Double, _ end: Double, to size: Int, of count: Int
  ) -> [Neighbors] {
    let scale = Float(end - start) / Float(size)
    let start = Float(start)
    return (0..<size).map { index in
      let position = start + ((Float(index) + 0.5) * scale - 0.5)
      let lower = position.rounded(.down)
      return Neighbors(
        first: min(max(Int(lower), 0), count - 1),
        second: min(max(Int(position.rounded(.up)), 0), count - 1), share: position - lower)
    }
  }

  /// Equal to OpenCV's `cv2.resize` of 8-bit samples with `INTER_LINEAR`, bit for bit: weights have
  /// 11 fractional bits, and sums are shifted right by 4 bits before the rows and by 16 after them.
  func resizedAsOpenCV(width: Int, height: Int, of region: Box) throws -> Image {
    let columns = Self.fixedNeighbors(
      region.left, region.right, to: width, of: self.width, clampsShares: true)
    let rows = Self.fixedNeighbors(
      region.top, region.bottom, to: height, of: self.height, clampsShares: false)
    return try mapped(width: width, height: height) { source, target in
      var to = 0
      for row in rows {
        for column in columns {
          for channel in 0..<channelCount {
            func sum(_ row: Int) -> Int32 {
              let start = row &* self.width
              return Int32(source[(start &+ column.first) &* channelCount &+ channel])
                &* column.firstShare
                &+ Int32(source[(start &+ column.second) &* channelCount &+ channel])
                &* column.secondShare
            }
            let first = (row.firstShare &* (sum(row.first) >> 4)) >> 16
            let second = (row.secondShare &* (sum(row.second) >> 4)) >> 16
            target[to] = UInt8(clamping: (first &+ second &+ 2) >> 2)
            to &+= 1
          }
        }
      }
    }
  }

  private struct FixedNeighbors {
    let first: Int
    let second: Int
    /// The weights, with 11 fractional bits.
    let firstShare: Int32
    let secondShare: Int32
  }

  /// - Parameter clampsShares: whether a point beyond the outermost sample gives it the full
  ///   weight; if not, the sample counts twice, with two separately rounded weights.
  private static func fixedNeighbors(
    _ start: Double, _ end: Double, to size: Int, of count: Int, clampsShares: Bool
  ) -> [FixedNeighbors] {
    let scale = 1 / (Double(size) / (end - start))
    return (0..<size).map { index in
      let position = Float(start + ((Double(index) + 0.5) * scale - 0.5))
      var lower = Int(position.rounded(.down))
      var share = position - Float(lower)
      if clampsShares, lower < 0 || lower >= count - 1 {
        lower = min(max(lower, 0), count - 1)
        share = 0
      }
      return FixedNeighbors(
        first: min(max(lower, 0), count - 1), second: min(max(lower + 1, 0), count - 1),
        firstShare: Int32(((1 - share) * 2048).rounded(.toNearestOrEven)),
        secondShare: Int32((share * 2048).rounded(.toNearestOrEven)))
    }
  }
}
