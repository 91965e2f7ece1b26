import TensorCore

/// An image sampled at the places that a second input gives, `[N, 2, H, W]`, x before y, each −1 to 1
/// from edge to edge, as PyTorch's `grid_sample` has it.
final class GridSample: BuiltInCustomLayer {
  static let className = "GridSampleLayer"
  static let otherNames = ["GridSample", "grid_sample"]
  static let notes = CustomLayerNotes(
    "y[c, h, w] = x[c] at the position grid[:, h, w] = (x, y) in −1…1: ((g + 1) · size − 1) / 2; align_corners: (g + 1) / 2 · (size − 1)",
    parameters: [
      "`mode`: `bilinear` (0) or `nearest` (1)",
      "`padding_mode`: `zeros` (0), `border` (1) or `reflection` (2)", "`align_corners` (false)",
    ])

  private enum Padding: String {
    case zeros, border, reflection
  }

  private let isNearest: Bool
  private let padding: Padding
  private let alignsCorners: Bool

  init(parameters: [String: CustomLayerParameter]) throws {
    let values = CustomLayerParameters(parameters)
    isNearest = try values.choice("mode", of: ["bilinear", "nearest"]) == "nearest"
    padding =
      try values.choice("padding_mode", of: ["zeros", "border", "reflection"])
      .flatMap(Padding.init) ?? .zeros
    alignsCorners = try values.bool("align_corners") ?? false
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let shapes = try inputs(inputShapes, 2...2)
    let (image, grid) = (try PlaneShape(planes: shapes[0]), try PlaneShape(planes: shapes[1]))
    try require(
      grid.channels == 2 && grid.images == image.images,
      "a grid of the shape \(shapes[1]) for an image of the shape \(shapes[0])", field: "input",
      hint: "a grid is [N, 2, H, W], x before y")
    return [image.with(channels: image.channels, height: grid.height, width: grid.width)]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    let (source, grid, target) = (inputs[0].first, inputs[1].first, outputs[0].first)
    let (from, to) = (PlaneShape(inputs[0].shape), PlaneShape(outputs[0].shape))
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

  /// The place on an axis of `size` for one in −1…1.
  private func place(_ coordinate: Float, _ size: Int) -> Float {
    let length = Float(size)
    let place =
      alignsCorners
      ? (coordinate + 1) / 2 * (length - 1) : ((coordinate + 1) * length - 1) / 2
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
    // A place that is not a number counts as the first.
    place > 0 ? min(place, length - 1) : 0
  }
}
