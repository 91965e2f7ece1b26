/// How to find boxes in a model's outputs.
struct DetectionArguments: ParsableArguments {
  @OptionGroup var detector: DetectorArguments

  @Option(
    help: .advanced("Write all boxes as COCO results.", "FILE"),
    completion: .file(extensions: ["json"]))
  var coco: String?

  var mode: DetectionMode? { detector.mode ?? (coco == nil ? nil : .auto) }
}

/// The kind of detector, and what decoding its boxes requires.
struct DetectorArguments: ParsableArguments {
  @Option(
    name: .customLong("detect"),
    help: .usual(
      "Find boxes in the outputs, as the model's metadata describes them (auto) or for this kind of network; run -o draws them, convert stores how to find them.",
      "KIND"))
  var kind: DetectionMode?

  @Option(
    name: .customLong("detector"),
    help: .advanced(
      "Set threshold (the minimum score of a box; default: 0.25), iou (the largest overlap of two boxes of a class; default: 0.45), anchors (W,H,W,H,… for yolov2, in cells, or yolov3, in pixels; COLUMNSxROWS: WxH, …; … for ssd), or another entry of the metadata assay.detect.K, such as scale_x_y; repeatable.",
      "K=V"))
  var entries: [KeyValue] = []

  func validate() throws {
    for entry in entries where ["threshold", "iou"].contains(entry.key) {
      guard let value = Double(entry.value), (0...1).contains(value) else {
        throw ValidationError("--detector \(entry.key) must be 0 to 1")
      }
    }
  }

  var mode: DetectionMode? { kind ?? (entries.isEmpty ? nil : .auto) }

  /// The options by metadata key.
  var options: [String: String] {
    var options: [String: String] = [:]
    for entry in entries {
      let key = mode == .ssd && entry.key == "anchors" ? "priors" : entry.key
      options[key] = entry.value
    }
    return options
  }
}

extension DetectionMode: ExpressibleByArgument {}
