import TensorCore

/// Bicubic enlargement by a factor, as in OpenCV's `INTER_CUBIC`; OpenPose's `ImResize`.
final class ImResize: BuiltInCustomLayer {
  static let className = "ImResize"
  static let notes = CustomLayerNotes(
    "bicubic (a = −3/4), y[i] around x at (i + 1/2) / factor − 1/2, with the border repeated",
    parameters: ["`factor`", "`target_spatial_width`, `target_spatial_height`, instead of it"])

  private let factor: Float
  private let width: Int
  private let height: Int

  init(parameters: [String: CustomLayerParameter]) throws {
    let values = CustomLayerParameters(values: parameters)
    factor = try values.float("factor") ?? 1
    width = try values.int("target_spatial_width", in: 0...Limits.dimension) ?? 0
    height = try values.int("target_spatial_height", in: 0...Limits.dimension) ?? 0
    try require(
      factor > 0 || width > 0 && height > 0, "\(factor) is not positive", field: "parameters.factor"
    )
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let shape = try PlaneShape(planes: onlyInput(inputShapes))
    func length(_ input: Int, _ stated: Int) throws -> Int {
      let length = stated > 0 ? Double(stated) : (Double(input) * Double(factor)).rounded(.down)
      try require(
        length >= 1 && length <= Double(Limits.dimension), "\(input) positions become \(length)",
        field: "parameters.factor")
      return Int(length)
    }
    return [
      shape.with(
        channels: shape.channels, height: try length(shape.height, height),
        width: try length(shape.width, width))
    ]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    CubicSampling.resize(
      inputs[0].first, PlaneShape(inputs[0].shape), to: outputs[0].first,
      PlaneShape(outputs[0].shape))
  }
}
