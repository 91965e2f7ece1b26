import TensorCore

/// Resizes planes, by the nearest position or by bilinear interpolation.
final class Resize: BuiltInCustomLayer {
  static let className = "Resize"
  static let otherNames = ["ResizeBilinear", "ResizeNearestNeighbor", "Interpolate"]
  static let notes = CustomLayerNotes(
    "y[i] = x[s(i)] with s(i) = i · in / out; align_corners: i · (in − 1) / (out − 1); half_pixel: (i + 1/2) · in / out − 1/2; between the four positions around s, or the nearest, rounded like TensorFlow",
    parameters: [
      "`height`, `width`; or `scale`; or `scale_height`, `scale_width`",
      "`mode` or `interpolation`: `bilinear` or `nearest` (by the class' name, else `bilinear`)",
      "`align_corners` (false)", "`half_pixel` or `half_pixel_centers` (false)",
    ])

  private enum Size {
    case fixed(Int)
    case scaled(Double)
  }

  private let height: Size
  private let width: Size
  private let sampling: AxisSampling

  init(parameters: [String: CustomLayerParameter]) throws {
    let values = CustomLayerParameters(values: parameters)
    func size(_ name: String) throws -> Size {
      if let fixed = try values.int(name, in: 1...Limits.dimension) { return .fixed(fixed) }
      guard let scale = try values.float("scale_\(name)", "scale", "scale_factor") else {
        throw ModelError(
          .malformed, "the parameter is missing", field: "parameters.\(name)",
          hint: "give height and width, or scale")
      }
      try require(scale > 0, "\(scale) is not positive", field: "parameters.scale")
      return .scaled(Double(scale))
    }
    height = try size("height")
    width = try size("width")
    let isNearest = parameters["engineName"] == .string("ResizeNearestNeighbor")
    let mode =
      try values.choice("mode", "interpolation", of: ["nearest", "bilinear"])
      ?? (isNearest ? "nearest" : "bilinear")
    sampling = AxisSampling(
      isNearest: mode == "nearest", alignsCorners: try values.bool("align_corners") ?? false,
      usesHalfPixels: try values.bool("half_pixel", "half_pixel_centers") ?? false)
    if sampling.alignsCorners, sampling.usesHalfPixels {
      throw ModelError(
        .malformed, "align_corners and half_pixel contradict each other",
        field: "parameters.align_corners")
    }
  }

  private func length(_ size: Size, of input: Int) throws -> Int {
    switch size {
    case .fixed(let length): return length
    case .scaled(let scale):
      let length = (Double(input) * scale).rounded(.down)
      try require(
        length >= 1 && length <= Double(Limits.dimension), "\(input) positions become \(length)",
        field: "parameters.scale")
      return Int(length)
    }
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let shape = try PlaneShape(planes: onlyInput(inputShapes))
    return [
      shape.with(
        channels: shape.channels, height: try length(height, of: shape.height),
        width: try length(width, of: shape.width))
    ]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    sampling.resize(
      inputs[0].first, PlaneShape(inputs[0].shape), to: outputs[0].first,
      PlaneShape(outputs[0].shape))
  }
}
