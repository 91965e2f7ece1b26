import LibC
import TensorCore

/// What the poolings of regions share: regions `(image, x₁, y₁, x₂, y₂)`, one per item of the second
/// input, and windows of each.
struct RegionWindows {
  let rows: Int
  let columns: Int
  let scale: Float

  static let inputNotes =
    "inputs x [N, C, H, W] and regions [R, 5], each (image, x₁, y₁, x₂, y₂); output [R, C, h, w]"
  static let parameterNotes = [
    "`pooled_h`, `pooled_w`: h and w", "`spatial_scale`: from region coordinates to those of x (1)",
  ]

  init(_ parameters: CustomLayerParameters) throws {
    rows = try parameters.required("pooled_h", in: 1...4096)
    columns = try parameters.required("pooled_w", in: 1...4096)
    scale = try parameters.float("spatial_scale") ?? 1
  }

  /// - Parameter channels: of the output, for those of x.
  func outputShape(_ shapes: [[Int]], channels: (Int) throws -> Int) throws -> [Int] {
    let shapes = try inputs(shapes, 2...2)
    let (image, regions) = (try PlaneShape(planes: shapes[0]), shapes[1])
    let count = regions.reduce(1, *)
    // Vectors of five, whichever axis holds them.
    try require(
      count % 5 == 0 && regions.contains(5),
      "the regions have the shape \(regions); each needs five numbers", field: "input"
    )
    let item = [count / 5, try channels(image.channels), rows, columns]
    return shapes[0].count == 5 ? [1] + item : item
  }

  /// A region in sizes of the regions, and the image that it lies in.
  typealias Region = (image: Int, x1: Float, y1: Float, x2: Float, y2: Float)

  /// Writes one value for each window of each channel of each region.
  ///
  /// - Parameter values: gives, for a region, the value of a channel's window at a row and a column.
  func evaluate(
    _ inputs: [CustomLayerInput], _ output: CustomLayerOutput, channels: Int,
    _ values: (Region, PlaneShape) -> (_ channel: Int, _ row: Int, _ column: Int) -> Float
  ) {
    let shape = PlaneShape(inputs[0].shape)
    var target = output.first
    for index in 0..<inputs[1].elements.count / 5 {
      let value = values(region(index, inputs[1].first, images: shape.images), shape)
      for channel in 0..<channels {
        for row in 0..<rows {
          for column in 0..<columns {
            target.pointee = value(channel, row, column)
            target += 1
          }
        }
      }
    }
  }

  private func region(_ index: Int, _ regions: UnsafePointer<Float>, images: Int) -> Region {
    let values = regions + 5 * index
    let image = values[0]
    return (
      image >= 0 && image < Float(images) ? Int(image) : 0, Self.limited(values[1]),
      Self.limited(values[2]), Self.limited(values[3]), Self.limited(values[4])
    )
  }

  /// A place that fits an Int; no number counts as 0.
  private static func limited(_ value: Float) -> Float {
    value.isNaN ? 0 : min(max(value, -1e6), 1e6)
  }

  /// The places of `length` that a window covers, from `start` on.
  func window(_ index: Int, _ bin: Float, _ start: Float, _ length: Int) -> Range<Int> {
    let first = floorf(Float(index) * bin + start)
    let last = ceilf(Float(index + 1) * bin + start)
    let low = min(max(first, 0), Float(length))
    let high = min(max(last, 0), Float(length))
    return Int(low)..<Int(max(low, high))
  }
}

/// The greatest value of each window of each region; Fast R-CNN's.
final class RegionMaxima: BuiltInCustomLayer {
  static let className = "ROIPooling"
  static let otherNames = ["RoIPooling", "ROIPool"]
  static let notes = CustomLayerNotes(
    "the maximum of each of h × w windows of a region, whose corners are rounded; "
      + RegionWindows.inputNotes, parameters: RegionWindows.parameterNotes)

  private let windows: RegionWindows

  init(parameters: [String: CustomLayerParameter]) throws {
    windows = try RegionWindows(CustomLayerParameters(parameters))
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    [try windows.outputShape(inputShapes) { $0 }]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    let source = inputs[0].first
    let channels = PlaneShape(inputs[0].shape).channels
    windows.evaluate(inputs, outputs[0], channels: channels) { [windows] region, shape in
      let (left, top) = (roundf(region.x1 * windows.scale), roundf(region.y1 * windows.scale))
      let width = max(roundf(region.x2 * windows.scale) - left + 1, 1)
      let height = max(roundf(region.y2 * windows.scale) - top + 1, 1)
      return { channel, row, column in
        let plane = source + (region.image * shape.channels + channel) * shape.area
        let rows = windows.window(row, height / Float(windows.rows), top, shape.height)
        let columns = windows.window(column, width / Float(windows.columns), left, shape.width)
        var greatest = rows.isEmpty || columns.isEmpty ? 0 : -Float.greatestFiniteMagnitude
        for y in rows { for x in columns { greatest = max(greatest, plane[y * shape.width + x]) } }
        return greatest
      }
    }
  }
}

/// The mean of each window of each region, every window of channels of its own; R-FCN's.
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
    let values = CustomLayerParameters(parameters)
    group = try values.required("group_size", in: 1...1024)
    channels = try values.int("output_dim", in: 1...Limits.dimension)
    var sized = parameters
    sized["pooled_h"] = .int(Int32(group))
    sized["pooled_w"] = .int(Int32(group))
    windows = try RegionWindows(CustomLayerParameters(sized))
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
    let source = inputs[0].first
    let channels = PlaneShape(inputs[0].shape).channels / (group * group)
    windows.evaluate(inputs, outputs[0], channels: channels) { [windows, group] region, shape in
      let (left, top) = (roundf(region.x1) * windows.scale, roundf(region.y1) * windows.scale)
      let width = max((roundf(region.x2) + 1) * windows.scale - left, 0.1)
      let height = max((roundf(region.y2) + 1) * windows.scale - top, 0.1)
      return { channel, row, column in
        let rows = windows.window(row, height / Float(group), top, shape.height)
        let columns = windows.window(column, width / Float(group), left, shape.width)
        let own = (channel * group + row) * group + column
        let plane = source + (region.image * shape.channels + own) * shape.area
        var sum = 0.0
        for y in rows { for x in columns { sum += Double(plane[y * shape.width + x]) } }
        let count = rows.count * columns.count
        return count == 0 ? 0 : Float(sum / Double(count))
      }
    }
  }
}

/// The mean of samples in each window of each region, between places; torchvision's.
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
    let values = CustomLayerParameters(parameters)
    windows = try RegionWindows(values)
    ratio = max(0, try values.int("sampling_ratio", in: -1...64) ?? 0)
    isAligned = try values.bool("aligned") ?? false
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    [try windows.outputShape(inputShapes) { $0 }]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    let source = inputs[0].first
    let offset: Float = isAligned ? 0.5 : 0
    let channels = PlaneShape(inputs[0].shape).channels
    windows.evaluate(inputs, outputs[0], channels: channels) { region, shape in
      let (left, top) = (
        region.x1 * windows.scale - offset, region.y1 * windows.scale - offset
      )
      var width = region.x2 * windows.scale - offset - left
      var height = region.y2 * windows.scale - offset - top
      if !isAligned {
        width = max(width, 1)
        height = max(height, 1)
      }
      let (binHeight, binWidth) = (height / Float(windows.rows), width / Float(windows.columns))
      // More samples than places of the image say nothing new.
      func samples(_ bin: Float, _ length: Int) -> Int {
        ratio > 0 ? ratio : min(max(Int(ceilf(bin)), 0), 2 * length + 2)
      }
      let (down, across) = (samples(binHeight, shape.height), samples(binWidth, shape.width))
      return { channel, row, column in
        let plane = source + (region.image * shape.channels + channel) * shape.area
        var sum: Float = 0
        for i in 0..<down {
          let y = top + Float(row) * binHeight + (Float(i) + 0.5) * binHeight / Float(down)
          for j in 0..<across {
            let x = left + Float(column) * binWidth + (Float(j) + 0.5) * binWidth / Float(across)
            sum += Self.clampedSample(plane, shape.height, shape.width, y: y, x: x)
          }
        }
        return sum / Float(max(1, down * across))
      }
    }
  }

  /// Between four places; up to one beyond the border counts as the border, what lies farther as 0.
  private static func clampedSample(
    _ plane: UnsafePointer<Float>, _ height: Int, _ width: Int, y: Float, x: Float
  ) -> Float {
    guard y >= -1, y <= Float(height), x >= -1, x <= Float(width) else { return 0 }
    return bilinearSample(
      plane, height, width, y: min(max(y, 0), Float(height - 1)),
      x: min(max(x, 0), Float(width - 1)))
  }
}
