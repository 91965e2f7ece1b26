import TensorCore

/// The settings for a model's boxes, from its metadata or the user, by the keys of Darknet.
///
/// `assay.detect.KEY` applies to the model, `assay.detect.OUTPUT.KEY` to one output.
package struct DetectorSettings: Sendable {
  package static let prefix = "assay.detect."

  private var values: [String: String]

  /// - Parameters:
  ///   - metadata: the model's user-defined metadata.
  ///   - options: values by `KEY` or `OUTPUT.KEY`; they take precedence over the metadata.
  package init(metadata: [String: String], options: [String: String] = [:]) {
    values = [:]
    for (key, value) in metadata where key.hasPrefix(Self.prefix) {
      values[String(key.dropFirst(Self.prefix.count))] = value
    }
    values.merge(options) { $1 }
  }

  /// The metadata for a detector of this kind, with which `auto` finds the same boxes.
  ///
  /// - Throws: `.mismatch` if a setting is missing or invalid.
  package static func metadata(
    of mode: DetectionMode, options: [String: String], labels: [String]?
  ) throws -> [String: String] {
    var values = options
    switch mode {
    case .auto: break
    case .yolov2: values["type"] = "region"
    case .yolov3: values["type"] = "yolo"
    case .tinyYOLOVOC:
      values["type"] = "region"
      let anchors = TinyYOLOVOC.anchors.map { "\($0.width),\($0.height)" }.joined(separator: ",")
      values["anchors"] = values["anchors"] ?? anchors
    case .ssd, .retinanet, .fasterRCNN: values["type"] = mode.rawValue
    }
    if let labels = labels ?? (mode == .tinyYOLOVOC ? TinyYOLOVOC.labels : nil) {
      let comma = labels.first { $0.contains(",") }
      try require(comma == nil, .mismatch, "the label '\(comma ?? "")' contains a comma")
      values["labels"] = labels.joined(separator: ",")
    }
    try require(
      ![.yolov2, .yolov3].contains(mode) || values.keys.contains { $0.hasSuffix("anchors") },
      .mismatch, "the anchors are missing", hint: Detector.anchorHint)
    let settings = Self(metadata: [:], options: values)
    for key in ["threshold", "iou", "scale_x_y"] { _ = try settings.number(key) }
    if ![.ssd, .retinanet].contains(mode) { _ = try settings.numbers("anchors") }
    return Dictionary(
      values.map { (prefix + $0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
  }

  package var isEmpty: Bool { values.isEmpty }

  package func text(_ key: String, of output: String? = nil) -> String? {
    if let output, let value = values["\(output).\(key)"] { return value }
    return values[key]
  }

  /// Whether the metadata describe this output.
  func describes(_ output: String) -> Bool { values["\(output).type"] != nil }

  func number(_ key: String, of output: String? = nil) throws -> Double? {
    guard let text = text(key, of: output) else { return nil }
    guard let value = Double(text[...].trimmed), value.isFinite else {
      throw fault(key, output, "'\(text)' is not a number")
    }
    return value
  }

  func integer(_ key: String, of output: String? = nil, in range: ClosedRange<Int>) throws -> Int? {
    guard let text = text(key, of: output) else { return nil }
    guard let value = Int(text[...].trimmed), range.contains(value) else {
      throw fault(
        key, output, "'\(text)' is not a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return value
  }

  func numbers(_ key: String, of output: String? = nil) throws -> [Double]? {
    guard let text = text(key, of: output) else { return nil }
    return try Self.numbers(text[...], key)
  }

  static func numbers(_ text: Substring, _ key: String) throws -> [Double] {
    try text.split(separator: ",").map {
      guard let value = Double($0.trimmed), value.isFinite else {
        throw ModelError(.mismatch, "'\($0)' is not a number", field: key)
      }
      return value
    }
  }

  func fault(_ key: String, _ output: String?, _ message: String) -> ModelError {
    ModelError(.mismatch, message, field: Self.prefix + (output.map { $0 + "." } ?? "") + key)
  }
}

/// The kind of a model's boxes; the names are those of the command line.
package enum DetectionMode: String, Sendable, CaseIterable {
  /// As described in the model's metadata.
  case auto
  case yolov2, yolov3, ssd, retinanet
  /// Faster R-CNN and R-FCN: regions with scores and offsets per class.
  case fasterRCNN = "faster-rcnn"
  /// The small YOLO v2 network for Pascal VOC, with its anchors and labels.
  case tinyYOLOVOC = "tiny-yolo-voc"
}

/// Tiny YOLO v2 for Pascal VOC, Darknet's `yolov2-tiny-voc.cfg`.
package enum TinyYOLOVOC {
  /// The anchors in cells of the grid.
  package static let anchors = [
    (1.08, 1.19), (3.42, 4.41), (6.63, 11.38), (9.42, 5.11), (16.62, 10.52),
  ].map { (width: $0.0, height: $0.1) }

  package static let labels = [
    "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow",
    "diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train",
    "tvmonitor",
  ]
}
