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
      let places = grid + image * 2 * to.area
      for index in 0..<to.area {
        var x = place(places[index], from.width)
        var y = place(places[to.area + index], from.height)
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
  private func place(_ coordinate: Float, _ size: Int) -> Float {
    let length = Float(size)
    let place =
      alignsCorners ? (coordinate + 1) / 2 * (length - 1) : ((coordinate + 1) * length - 1) / 2
    switch padding {
    case .zeros: return place
    case .border: return clipped(place, length)
    case .reflection:
      let low: Float = alignsCorners ? 0 : -0.5
      let span = alignsCorners ? length - 1 : length
      guard span > 0 else { return 0 }
      let distance = abs(place - low)
      guard distance.isFinite else { return 0 }
      let rest = distance.truncatingRemainder(dividingBy: span)
      let turns = (distance / span).rounded(.down)
      let isOdd = turns.truncatingRemainder(dividingBy: 2) == 1
      return clipped(isOdd ? span - rest + low : rest + low, length)
    }
  }

  private func clipped(_ place: Float, _ length: Float) -> Float {
    // NaN counts as the first position.
    place > 0 ? min(place, length - 1) : 0
  }
}
