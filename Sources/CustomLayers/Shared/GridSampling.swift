/// Samples images at positions of a grid, x before y, each from −1 to 1 between the edges.
struct GridSampling {
  enum Padding: String { case zeros, border, reflection }

  let isNearest: Bool
  let padding: Padding
  let alignsCorners: Bool

  func sample(
    _ source: UnsafePointer<Float>, _ from: PlaneShape, at grid: UnsafePointer<Float>,
    to target: UnsafeMutablePointer<Float>, _ to: PlaneShape
  ) {
    for image in 0..<from.images {
      let positions = grid + image * 2 * to.area
      for index in 0..<to.area {
        var x = position(positions[index], from.width)
        var y = position(positions[to.area + index], from.height)
        if isNearest {
          x = x.rounded(.toNearestOrEven)
          y = y.rounded(.toNearestOrEven)
        }
        for channel in 0..<from.channels {
          let plane = image * from.channels + channel
          target[plane * to.area + index] = bilinearSample(
            source + plane * from.area, from.height, from.width, y: y, x: x)
        }
      }
    }
  }

  /// The position on an axis of `size` for a coordinate in −1…1.
  private func position(_ coordinate: Float, _ size: Int) -> Float {
    let length = Float(size)
    let position =
      alignsCorners ? (coordinate + 1) / 2 * (length - 1) : ((coordinate + 1) * length - 1) / 2
    switch padding {
    case .zeros: return position
    case .border: return clipped(position, length)
    case .reflection:
      let low: Float = alignsCorners ? 0 : -0.5
      let span = alignsCorners ? length - 1 : length
      guard span > 0 else { return 0 }
      let distance = abs(position - low)
      guard distance.isFinite else { return 0 }
      let rest = distance.truncatingRemainder(dividingBy: span)
      let turns = (distance / span).rounded(.down)
      let isOdd = turns.truncatingRemainder(dividingBy: 2) == 1
      return clipped(isOdd ? span - rest + low : rest + low, length)
    }
  }

  private func clipped(_ position: Float, _ length: Float) -> Float {
    // NaN counts as the first position.
    position > 0 ? min(position, length - 1) : 0
  }
}
