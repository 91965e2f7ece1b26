import TensorCore

/// Planes in another size, by the nearest place or between four.
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
  private let kernels: LayerKernels

  init(parameters: [String: CustomLayerParameter]) throws {
    kernels = try LayerKernels()
    let values = CustomLayerParameters(parameters)
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
    let (source, target) = (inputs[0].first, outputs[0].first)
    let (from, to) = (PlaneShape(inputs[0].shape), PlaneShape(outputs[0].shape))
    let rows = sampling.places(of: from.height, in: to.height)
    let columns = sampling.places(of: from.width, in: to.width)
    for plane in 0..<from.images * from.channels {
      let image = source + plane * from.area
      let result = target + plane * to.area
      for (y, row) in rows.enumerated() {
        let (upper, lower) = (image + row.first * from.width, image + row.second * from.width)
        let line = result + y * to.width
        for x in 0..<to.width {
          let column = columns[x]
          let top = upper[column.first] * (1 - column.weight) + upper[column.second] * column.weight
          let bottom =
            lower[column.first] * (1 - column.weight) + lower[column.second] * column.weight
          line[x] = top * (1 - row.weight) + bottom * row.weight
        }
      }
    }
  }
}

/// Where the places of a resized axis lie on the axis that it was.
struct AxisSampling {
  /// Two neighbors and how much the second counts.
  struct Place: Equatable {
    var first: Int
    var second: Int
    var weight: Float
  }

  var isNearest: Bool
  var alignsCorners: Bool
  var usesHalfPixels: Bool

  func places(of length: Int, in count: Int) -> [Place] {
    let scale =
      alignsCorners && count > 1
      ? Double(length - 1) / Double(count - 1) : Double(length) / Double(count)
    return (0..<count).map { index in
      if isNearest {
        // TensorFlow rounds aligned places half up, floors the others.
        let place =
          alignsCorners
          ? (Double(index) * scale + 0.5).rounded(.down)
          : ((Double(index) + (usesHalfPixels ? 0.5 : 0)) * scale).rounded(.down)
        let nearest = min(max(Int(place), 0), length - 1)
        return Place(first: nearest, second: nearest, weight: 0)
      }
      let place =
        usesHalfPixels ? (Double(index) + 0.5) * scale - 0.5 : Double(index) * scale
      let floor = place.rounded(.down)
      return Place(
        first: min(max(Int(floor), 0), length - 1), second: min(max(Int(floor) + 1, 0), length - 1),
        weight: Float(place - floor))
    }
  }
}
