extension Image {
  /// The resized image; with Pillow's filters, equal to Pillow's `resize` bit for bit.
  ///
  /// Each axis is resampled in turn, with weights of 22 fractional bits and rounding in between. If
  /// an axis shrinks, the filter widens accordingly, so that every sample counts. Columns come
  /// first unless the image loses more than twice as many rows as columns; this rule was found by
  /// comparing 3,000 pairs of sizes with Pillow 13.
  ///
  /// - Throws: `.limitExceeded` if the result is too large.
  package func resized(
    width: Int, height: Int, _ interpolation: Interpolation = .bilinear
  ) throws -> Image {
    try resized(width: width, height: height, interpolation, of: whole)
  }

  var whole: Box { Box(left: 0, top: 0, right: Double(self.width), bottom: Double(self.height)) }

  /// A resized part of the image, like Pillow's `resize` with a `box`.
  ///
  /// Precondition: `region` is within the image and is not empty.
  package func resized(
    width: Int, height: Int, _ interpolation: Interpolation, of region: Box
  ) throws -> Image {
    try SampleBuffer.checkSize(width: width, height: height)
    if width == self.width, height == self.height, region == whole { return self }
    guard interpolation.support != nil else {
      switch interpolation {
      case .openCVBilinear: return try resizedAsOpenCV(width: width, height: height, of: region)
      case .tensorFlowBilinear:
        return try resizedAsTensorFlow(width: width, height: height, of: region)
      default: return try nearest(width: width, height: height, of: region)
      }
    }
    let across = ResampledAxis(
      from: self.width, region.left, region.right, to: width, interpolation)
    let down = ResampledAxis(
      from: self.height, region.top, region.bottom, to: height, interpolation)
    let lostColumns = region.right - region.left - Double(width)
    let lostRows = region.bottom - region.top - Double(height)
    let steps: [(Axis, ResampledAxis)] = [(.columns, across), (.rows, down)]
    let isRowsFirst = lostRows > 0 && lostRows > 2 * lostColumns
    // An axis that keeps its size and position keeps its samples.
    return try (isRowsFirst ? steps.reversed() : steps).filter { $0.1.changes }
      .reduce(self) { try $0.resampled(along: $1.0, $1.1) }
  }

  private enum Axis { case rows, columns }

  private func resampled(along axis: Axis, _ resampled: ResampledAxis) throws -> Image {
    let (width, height) =
      axis == .columns ? (resampled.size, self.height) : (self.width, resampled.size)
    let count = width * channelCount
    return try mapped(width: width, height: height) { source, target in
      for y in 0..<height {
        switch axis {
        case .columns:
          let row = y &* self.width &* channelCount
          resampled.weights.withUnsafeBufferPointer { weights in
            for (x, window) in resampled.windows.enumerated() {
              let from = row &+ window.first &* channelCount
              let to = y &* count &+ x &* channelCount
              if channelCount == 3 {
                // One pass over the weights computes all channels.
                var (first, second, third) = (half, half, half)
                var position = from
                for index in window.weights {
                  let weight = weights[index]
                  first &+= Int32(source[position]) &* weight
                  second &+= Int32(source[position &+ 1]) &* weight
                  third &+= Int32(source[position &+ 2]) &* weight
                  position &+= 3
                }
                target[to] = UInt8(clamping: first >> weightBits)
                target[to &+ 1] = UInt8(clamping: second >> weightBits)
                target[to &+ 2] = UInt8(clamping: third >> weightBits)
              } else {
                for channel in 0..<channelCount {
                  var total = half
                  var position = from &+ channel
                  for index in window.weights {
                    total &+= Int32(source[position]) &* weights[index]
                    position &+= channelCount
                  }
                  target[to &+ channel] = UInt8(clamping: total >> weightBits)
                }
              }
            }
          }
        case .rows:
          let window = resampled.windows[y]
          var totals = [Int32](repeating: half, count: count)
          for (row, index) in window.weights.enumerated() {
            let start = (window.first &+ row) &* count
            let weight = resampled.weights[index]
            for x in 0..<count { totals[x] &+= Int32(source[start &+ x]) &* weight }
          }
          for x in 0..<count { target[y &* count &+ x] = UInt8(clamping: totals[x] >> weightBits) }
        }
      }
    }
  }

  /// Uses the sample at the center of each new one. The steps are summed as in Pillow.
  private func nearest(width: Int, height: Int, of region: Box) throws -> Image {
    func positions(_ start: Double, _ end: Double, of count: Int, limit: Int) -> [Int] {
      let step = (end - start) / Double(count)
      var position = start + step * 0.5
      return (0..<count).map { _ in
        defer { position += step }
        return min(max(Int(position), 0), limit - 1)
      }
    }
    let columns = positions(region.left, region.right, of: width, limit: self.width)
    let rows = positions(region.top, region.bottom, of: height, limit: self.height)
    return try mapped(width: width, height: height) { source, target in
      var to = 0
      for row in rows {
        for column in columns {
          let from = (row &* self.width &+ column) &* channelCount
          for channel in 0..<channelCount { target[to &+ channel] = source[from &+ channel] }
          to &+= channelCount
        }
      }
    }
  }
}

/// The window of old samples that are summed for each new sample of an axis.
private struct ResampledAxis {
  struct Window {
    var first: Int
    /// The indices in `weights`.
    var weights: Range<Int>
  }

  let size: Int
  let changes: Bool
  private(set) var windows: [Window] = []
  /// The weights of all windows, with 22 fractional bits.
  private(set) var weights: [Int32] = []

  init(
    from count: Int, _ start: Double, _ end: Double, to size: Int, _ interpolation: Interpolation
  ) {
    self.size = size
    changes = size != count || start != 0 || end != Double(count)
    guard changes else { return }
    let scale = (end - start) / Double(size)
    let filterScale = max(scale, 1)
    let reach = (interpolation.support ?? 0) * filterScale
    for index in 0..<size {
      let center = start + (Double(index) + 0.5) * scale
      let first = max(0, Int(center - reach + 0.5))
      let last = min(count, Int(center + reach + 0.5))
      var window = (first..<max(first, last)).map {
        interpolation.weight((Double($0) - center + 0.5) * (1 / filterScale))
      }
      let total = window.reduce(0, +)
      if total != 0 { window = window.map { $0 / total } }
      windows.append(Window(first: first, weights: weights.count..<weights.count + window.count))
      weights += window.map { Self.fixed($0) }
    }
  }

  /// Rounds to nearest, halves away from zero.
  private static func fixed(_ weight: Double) -> Int32 {
    Int32(weight * Double(1 << weightBits) + (weight < 0 ? -0.5 : 0.5))
  }
}

private let weightBits = 22
private let half: Int32 = 1 << (weightBits - 1)
