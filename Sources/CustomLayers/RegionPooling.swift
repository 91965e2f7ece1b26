import TensorCore

extension RegionWindows {
  static let inputNotes =
    "inputs x [N, C, H, W] and regions [R, 5], each (image, x₁, y₁, x₂, y₂); output [R, C, h, w]"
  static let parameterNotes = [
    "`pooled_h`, `pooled_w`: h and w", "`spatial_scale`: from region coordinates to those of x (1)",
  ]

  /// - Parameter group: rows and columns; nil reads them from the parameters.
  init(_ parameters: CustomLayerParameters, group: Int? = nil) throws {
    self.init(
      rows: try group ?? parameters.required("pooled_h", in: 1...4096),
      columns: try group ?? parameters.required("pooled_w", in: 1...4096),
      scale: try parameters.float("spatial_scale") ?? 1)
  }

  /// - Parameter channels: the output's channels, given those of x.
  func outputShape(_ shapes: [[Int]], channels: (Int) throws -> Int) throws -> [Int] {
    let shapes = try inputs(shapes, 2...2)
    let (image, regions) = (try PlaneShape(planes: shapes[0]), shapes[1])
    let count = regions.reduce(1, *)
    // Five numbers per region, along any axis.
    try require(
      count % 5 == 0 && regions.contains(5),
      "the regions have the shape \(regions); each needs five numbers", field: "input"
    )
    let item = [count / 5, try channels(image.channels), rows, columns]
    return shapes[0].count == 5 ? [1] + item : item
  }

  /// The inputs in the form that `pool` needs.
  func regions(of inputs: [CustomLayerInput]) -> Regions {
    Regions(
      source: inputs[0].first, shape: PlaneShape(inputs[0].shape), regions: inputs[1].first,
      count: inputs[1].elements.count / 5)
  }
}

/// The maximum of each window of each region, as in Fast R-CNN.
final class RegionMaxima: BuiltInCustomLayer {
  static let className = "ROIPooling"
  static let otherNames = ["RoIPooling", "ROIPool"]
  static let notes = CustomLayerNotes(
    "the maximum of each of h × w windows of a region, whose corners are rounded; "
      + RegionWindows.inputNotes, parameters: RegionWindows.parameterNotes)

  private let windows: RegionWindows

  init(parameters: [String: CustomLayerParameter]) throws {
    windows = try RegionWindows(CustomLayerParameters(values: parameters))
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    [try windows.outputShape(inputShapes) { $0 }]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    windows.maxima(windows.regions(of: inputs), to: outputs[0].first)
  }
}

/// The mean of each window of each region, with separate channels for every window, as in R-FCN.
final class PositionSensitivePooling: BuiltInCustomLayer {
  static let className = "PSROIPooling"
  static let notes = CustomLayerNotes(
    "the mean of window (i, j) of a region in channel (c · g + i) · g + j; inputs x [N, C · g², H, W] and regions [R, 5], each (image, x₁, y₁, x₂, y₂); output [R, C, g, g]",
    parameters: [
      "`group_size`: g", "`output_dim`: C, checked",
      "`spatial_scale`: from region coordinates to those of x (1)",
    ])

  private let windows: RegionWindows
  private let group: Int
  private let channels: Int?

  init(parameters: [String: CustomLayerParameter]) throws {
    let values = CustomLayerParameters(values: parameters)
    group = try values.required("group_size", in: 1...1024)
    channels = try values.int("output_dim", in: 1...Limits.dimension)
    windows = try RegionWindows(values, group: group)
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    [
      try windows.outputShape(inputShapes) { count in
        try require(
          count % (group * group) == 0
            && (channels ?? count / (group * group) == count / (group * group)),
          "\(count) channels are not \(channels.map(String.init) ?? "some") · "
            + "\(group) · \(group)", field: "parameters.group_size")
        return count / (group * group)
      }
    ]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    windows.groupMeans(windows.regions(of: inputs), to: outputs[0].first)
  }
}

/// The mean of interpolated samples in each window of each region, as in torchvision.
final class RegionAlign: BuiltInCustomLayer {
  static let className = "ROIAlign"
  static let otherNames = ["RoIAlign"]
  static let notes = CustomLayerNotes(
    "the mean of evenly spaced bilinear samples in each of h × w windows of a region; "
      + RegionWindows.inputNotes,
    parameters: RegionWindows.parameterNotes + [
      "`sampling_ratio`: samples along each axis of a window; 0: one per position (0)",
      "`aligned`: whether positions refer to pixel centers (false)",
    ])

  private let windows: RegionWindows
  private let ratio: Int
  private let isAligned: Bool

  init(parameters: [String: CustomLayerParameter]) throws {
    let values = CustomLayerParameters(values: parameters)
    windows = try RegionWindows(values)
    ratio = max(0, try values.int("sampling_ratio", in: -1...64) ?? 0)
    isAligned = try values.bool("aligned") ?? false
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    [try windows.outputShape(inputShapes) { $0 }]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    windows.sampleMeans(
      windows.regions(of: inputs), ratio: ratio, isAligned: isAligned, to: outputs[0].first)
  }
}
