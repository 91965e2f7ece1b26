import TensorCore

/// The values that decoding a detection head requires in addition to its grid. They are stored in
/// the model's user-defined metadata under `assay.detect.OUTPUT.KEY`.
struct DetectionHead: Sendable {
  /// The name of the layer, such as `region_15`.
  let layer: String
  let index: Int
  let values: [(key: String, value: String)]

  /// - Parameters:
  ///   - kind: the name of the section.
  ///   - defaults: options required for decoding boxes, with Darknet's defaults.
  ///   - others: options that are recorded if the section has them.
  init(_ call: LayerCall, kind: String, defaults: [(String, String)], others: [String]) {
    layer = call.name
    index = call.index
    var values = [("type", kind)]
    for (key, value) in defaults { values.append((key, call.section.string(key) ?? value)) }
    for key in others { if let value = call.section.string(key) { values.append((key, value)) } }
    self.values = values
  }

  static let prefix = "assay.detect."

  func metadata(output: String) -> [String: String] {
    Dictionary(
      values.map { ("\(Self.prefix)\(output).\($0.key)", $0.value) },
      uniquingKeysWith: { first, _ in first })
  }
}

extension LayerCall {
  /// The raw grid: the previous layer's output, with as many channels as the boxes need.
  func grid(boxes: Int, numbers: Int, _ formula: String) throws -> DarknetTensor {
    var grid = try image
    let channels = try checkedProduct([boxes, numbers], limit: Limits.dimension)
    guard grid.channels == channels else {
      throw error(
        "its input has \(grid.channels) channels, but \(boxes) boxes of \(numbers) numbers need "
          + "\(channels)", hint: "filters of the convolution before it: \(formula)")
    }
    grid.isGrid = true
    return grid
  }
}

extension ConfigurationSection {
  /// A message if there are too few anchors for `count` boxes; the grid does not depend on them.
  func anchorFault(_ count: Int) throws -> String? {
    guard let option = self["anchors"], let anchors = try doubles("anchors"),
      anchors.count < 2 * count
    else { return nil }
    return "line \(option.line): anchors: \(anchors.count) numbers, but \(count) boxes need "
      + "\(2 * count); boxes cannot be decoded"
  }

  /// Darknet's anchors for a section without any.
  static func defaultAnchors(_ count: Int) -> String {
    [String](repeating: "0.5", count: 2 * count).joined(separator: ",")
  }
}
