import ArgumentParser
import Assay

/// How to find boxes in a model's outputs.
struct DetectionArguments: ParsableArguments {
  @Option(
    name: .customLong("detect"),
    help: ArgumentHelp(
      "Find boxes in the outputs, as the model's metadata describes them (auto) or for this kind of network; -o draws them.",
      valueName: "KIND"))
  var mode: DetectionMode?

  @Option(
    help: ArgumentHelp(
      "W,H,W,H,… for yolov2 (in cells) or yolov3 (in pixels); COLUMNSxROWS: WxH, …; … for ssd.",
      valueName: "LIST"))
  var anchors: String?

  @Option(
    help: ArgumentHelp("The minimum score of a box; default: 0.25.", valueName: "SCORE"))
  var threshold: Double?

  @Option(
    help: ArgumentHelp(
      "The largest allowed overlap of two boxes of a class, divided by their union; default: 0.45.",
      valueName: "FRACTION"))
  var iou: Double?

  @Option(
    name: .customLong("detector"),
    help: ArgumentHelp(
      "Set an entry of the metadata assay.detect.K, such as scale_x_y=1.1; repeatable.",
      valueName: "K=V"))
  var entries: [String] = []

  @Option(
    help: ArgumentHelp("Write all boxes as COCO results.", valueName: "FILE"),
    completion: .file(extensions: ["json"]))
  var coco: String?

  func validate() throws {
    if mode == nil {
      let given =
        [
          ("--anchors", anchors != nil), ("--threshold", threshold != nil), ("--iou", iou != nil),
          ("--detector", !entries.isEmpty), ("--coco", coco != nil),
        ].first { $0.1 }
      if let given { throw ValidationError("\(given.0) needs --detect") }
    }
    for (name, value) in [("--threshold", threshold), ("--iou", iou)] {
      if let value, !(0...1).contains(value) {
        throw ValidationError("\(name) must be 0 to 1")
      }
    }
    if let entry = entries.first(where: { !$0.dropFirst().contains("=") }) {
      throw ValidationError("--detector takes K=V, not '\(entry)'")
    }
  }

  /// By the keys of the metadata.
  var options: [String: String] {
    var options: [String: String] = [:]
    for entry in entries {
      guard let separator = entry.firstIndex(of: "=") else { continue }
      options[String(entry[..<separator])] = String(entry[entry.index(after: separator)...])
    }
    if let anchors { options[mode == .ssd ? "priors" : "anchors"] = anchors }
    if let threshold { options["threshold"] = String(threshold) }
    if let iou { options["iou"] = String(iou) }
    return options
  }
}

extension DetectionMode: ExpressibleByArgument {}
