import TensorCore

/// An image sampled at the positions that a second input gives, `[N, 2, H, W]`, x before y, each −1 to 1
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

  private let sampling: GridSampling

  init(parameters: [String: CustomLayerParameter]) throws {
    let values = CustomLayerParameters(values: parameters)
    sampling = GridSampling(
      isNearest: try values.choice("mode", of: ["bilinear", "nearest"]) == "nearest",
      padding: try values.choice("padding_mode", of: ["zeros", "border", "reflection"])
        .flatMap(GridSampling.Padding.init) ?? .zeros,
      alignsCorners: try values.bool("align_corners") ?? false)
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
    sampling.sample(
      inputs[0].first, PlaneShape(inputs[0].shape), at: inputs[1].first, to: outputs[0].first,
      PlaneShape(outputs[0].shape))
  }
}
