import Imaging
import TensorCore

/// Finds objects in the outputs of a network.
package struct Detector: Sendable {
  package var threshold: Double
  /// The largest intersection over union of two objects of a class.
  package var overlap: Double
  /// The class names, without a background class.
  package var labels: [String]?
  /// The region without letterboxing and its scale, for networks that take them as an input.
  package var extent: RegionDecoder.Extent?
  /// Whether each candidate keeps only its best class, as in Vision.
  package var keepsBestClass = false
  let settings: DetectorSettings
  private let mode: DetectionMode
  /// The size of the image that the network receives.
  let width: Int
  let height: Int

  /// The first lines of label files that name the background.
  private static let backgrounds = ["background", "__background__", "none_of_the_above"]
  package static let usualThreshold = 0.25
  package static let usualOverlap = 0.45
  /// The default of py-faster-rcnn.
  package static let overlapOfRegions = 0.3

  /// - Parameters:
  ///   - labels: from the user or the model; they take precedence over those of `settings`.
  ///   - width, height: the size of the image that the network receives.
  /// - Throws: `.mismatch` if a setting is invalid.
  package init(
    _ mode: DetectionMode, settings: DetectorSettings, labels: [String]? = nil, width: Int,
    height: Int
  ) throws {
    (self.mode, self.settings, self.width, self.height) = (mode, settings, width, height)
    threshold = try settings.number("threshold") ?? Self.usualThreshold
    let isRegions = mode == .fasterRCNN || mode == .auto && settings.text("type") == "faster-rcnn"
    overlap = try settings.number("iou") ?? (isRegions ? Self.overlapOfRegions : Self.usualOverlap)
    self.labels =
      labels ?? settings.text("labels")?.split(separator: ",").map { String($0.trimmed) }
      ?? (mode == .tinyYOLOVOC ? TinyYOLOVOC.labels : nil)
    if let first = self.labels?.first?.lowercased(), Self.backgrounds.contains(first) {
      self.labels?.removeFirst()
    }
    try require(
      width > 0 && height > 0, .mismatch,
      "\(setting: "detect") needs an image input, but the model has none")
    if mode == .auto, settings.isEmpty {
      throw ModelError(
        .mismatch, "the model's metadata does not describe its boxes",
        hint:
          "use \(setting: "detect") yolov2, yolov3, ssd, retinanet, faster-rcnn or tiny-yolo-voc, or convert with "
          + "\(setting: "metadata") assay.detect.KEY=VALUE")
    }
  }

  /// The name of a class.
  package func label(_ index: Int) -> String {
    guard let labels, labels.indices.contains(index) else { return "class \(index)" }
    return labels[index]
  }

  /// The detected objects, best first, in fractions of the network's image; a box may extend beyond
  /// it.
  package func objects(in outputs: [DetectorOutput]) throws -> [DetectedObject] {
    let decodings = try decodings(of: outputs)
    let objects = try decodings.flatMap(objects)
    try checkLabels(objects)
    return decodings.allSatisfy(\.isSuppressed)
      ? objects.sorted { $0.score > $1.score } : Suppression.best(objects, overlap: overlap)
  }

  /// How to decode the boxes in the outputs.
  package func decodings(of outputs: [DetectorOutput]) throws -> [BoxDecoding] {
    switch mode {
    case .auto:
      let described = outputs.filter { settings.describes($0.name) }
      if !described.isEmpty { return try described.map(decoding) }
      switch settings.text("type") {
      case "ssd": return [try ssd(outputs)]
      case "retinanet": return [try retinaNet(outputs)]
      case "yolo": return try grids(outputs, .yolo)
      case "region": return try grids(outputs, .region)
      case "faster-rcnn": return [.regions(outputs)]
      case SuppressedBoxes.type: return [try suppressed(outputs)]
      default:
        throw ModelError(
          .mismatch, "the metadata describes boxes of other outputs",
          hint: "set assay.detect.OUTPUT.type for the output")
      }
    case .yolov2: return try grids(outputs, .region)
    case .tinyYOLOVOC: return try grids(outputs, .region, anchors: TinyYOLOVOC.anchors)
    case .yolov3: return try grids(outputs, .yolo)
    case .ssd: return [try ssd(outputs)]
    case .retinanet: return [try retinaNet(outputs)]
    case .fasterRCNN: return [.regions(outputs)]
    }
  }

  private func objects(_ decoding: BoxDecoding) throws -> [DetectedObject] {
    switch decoding {
    case .grid(let output, let decoder):
      guard let grid = output.grid(channels: decoder.channels) else {
        throw ModelError(
          .mismatch,
          "its shape is \(output.value.shape), but \(decoder.anchors.count) boxes of "
            + "\(decoder.classes) classes need \(decoder.channels) channels", field: output.name,
          hint: "channels = boxes · (classes + 5)")
      }
      return best(try decoder.objects(in: grid, width: width, height: height, threshold: threshold))
    case .offsets(let locations, let scores, let decoder):
      return best(
        try decoder.objects(locations: locations.value, scores: scores.value, threshold: threshold))
    case .rows(let output, let rows):
      do { return try rows.objects(in: output.value, threshold: threshold) } catch let error
        as ModelError
      { throw error.inLayer(output.name) }
    case .cells(let output, let decoder):
      return try decoder.objects(in: output.value, threshold: threshold)
    case .regions(let outputs): return try regionObjects(outputs)
    case .suppressed(let boxes): return try boxes.objects(threshold: threshold)
    }
  }

  /// The best object of each candidate; objects of a candidate are adjacent.
  private func best(_ objects: [DetectedObject]) -> [DetectedObject] {
    guard keepsBestClass else { return objects }
    return objects.reduce(into: []) { kept, object in
      guard let last = kept.last, last.box == object.box else { return kept.append(object) }
      if object.score > last.score { kept[kept.count - 1] = object }
    }
  }

  private func checkLabels(_ objects: [DetectedObject]) throws {
    guard let labels, let index = objects.map(\.classIndex).max(), index >= labels.count else {
      return
    }
    throw ModelError(
      .mismatch, "an object has class \(index), but there are \(labels.count) labels",
      hint: "classes count from 0, without the background")
  }
}

// MARK: Grids

extension Detector {
  private func decoding(of output: DetectorOutput) throws -> BoxDecoding {
    let type = settings.text("type", of: output.name) ?? ""
    switch type {
    case "region", "yolo", "Gaussian_yolo": return .grid(output, try decoder(of: output.name, type))
    case "DetectionOutput": return try rows(output)
    case "detection": return .cells(output, try cells(of: output.name))
    default:
      throw settings.fault(
        "type", output.name,
        "boxes of type '\(type)' are not supported; region, yolo, Gaussian_yolo, detection and DetectionOutput are"
      )
    }
  }

  private func cells(of output: String) throws -> SideDecoder {
    func number(_ key: String, _ standard: Int, _ range: ClosedRange<Int>) throws -> Int {
      try settings.integer(key, of: output, in: range) ?? standard
    }
    guard try number("coords", 4, 1...1 << 20) == 4 else {
      throw settings.fault("coords", output, "a box needs four numbers")
    }
    var decoder = SideDecoder()
    decoder.side = try number("side", 7, 1...1 << 14)
    decoder.classes = try number("classes", 1, 0...1 << 20)
    decoder.boxes = try number("num", 1, 1...1 << 16)
    decoder.isSoftmax = try number("softmax", 0, 0...1) == 1
    decoder.isRoot = try number("sqrt", 0, 0...1) == 1
    return decoder
  }

  private func decoder(of output: String, _ type: String) throws -> GridDecoder {
    let most = 1 << 20
    let classes = try settings.integer("classes", of: output, in: 0...most) ?? 20
    let anchors = try pairs(settings.numbers("anchors", of: output) ?? [], output)
    var own = anchors
    if let mask = try settings.numbers("mask", of: output), type != "region" {
      own = try mask.map { number in
        guard let index = Int(exactly: number), anchors.indices.contains(index) else {
          throw settings.fault(
            "mask", output, "anchor \(number) does not exist; there are \(anchors.count)")
        }
        return anchors[index]
      }
    } else if let count = try settings.integer("num", of: output, in: 1...most) {
      guard count <= anchors.count else {
        throw settings.fault(
          "anchors", output, "\(counted(anchors.count, "anchor")) for \(count) boxes")
      }
      own = Array(anchors.prefix(count))
    }
    let kind: GridDecoder.Kind =
      switch type {
      case "region": .region
      case "yolo": .yolo
      default: .gaussian
      }
    var decoder = GridDecoder(kind: kind, classes: classes, anchors: own)
    guard settings.text("tree", of: output) == nil else {
      throw settings.fault("tree", output, "class trees are not supported")
    }
    decoder.coordinates = try settings.integer("coords", of: output, in: 4...most) ?? 4
    decoder.isSoftmax = try settings.integer("softmax", of: output, in: 0...1) ?? 1 == 1
    decoder.hasBackground = try settings.integer("background", of: output, in: 0...1) ?? 0 == 1
    decoder.scale = try settings.number("scale_x_y", of: output) ?? 1
    decoder.isLogistic = try settings.integer("new_coords", of: output, in: 0...1) ?? 0 == 1
    return decoder
  }

  private func pairs(
    _ numbers: [Double], _ output: String? = nil
  ) throws -> [(width: Double, height: Double)] {
    guard !numbers.isEmpty, numbers.count % 2 == 0, numbers.allSatisfy({ $0 > 0 }) else {
      throw settings.fault(
        "anchors", output, "\(numbers.count) numbers; each anchor needs a width and a height")
    }
    return stride(from: 0, to: numbers.count, by: 2).map { (numbers[$0], numbers[$0 + 1]) }
  }

  /// The decoders of all outputs that are grids, with anchors from the user.
  ///
  /// Anchors are given for each output, `A; B`, or all together: then the finest grid has the first
  /// ones, as in YOLO v3, and all grids have equally many.
  private func grids(
    _ outputs: [DetectorOutput], _ kind: GridDecoder.Kind,
    anchors builtIn: [(width: Double, height: Double)]? = nil
  ) throws -> [BoxDecoding] {
    var outputs = outputs.filter { output in
      var shape = output.value.shape
      while shape.count > 3, shape[0] == 1 { shape.removeFirst() }
      return shape.count == 3
    }
    try require(
      !outputs.isEmpty, .mismatch, "the model has no output that is a grid of boxes",
      hint: "a grid has three axes: channels, rows and columns")
    var groups: [[(width: Double, height: Double)]]
    if let text = settings.text("anchors") {
      groups = try text.split(separator: ";").map {
        try pairs(DetectorSettings.numbers($0, "anchors"))
      }
    } else if let builtIn {
      groups = [builtIn]
    } else {
      throw ModelError(.mismatch, "the anchors are missing", hint: Self.anchorHint)
    }
    if groups.count == 1, outputs.count > 1 {
      let all = groups[0]
      try require(
        all.count % outputs.count == 0, .mismatch,
        "\(counted(all.count, "anchor")) for \(counted(outputs.count, "output"))", field: "anchors",
        hint:
          "give those of each output: 'W,H,…; W,H,…', or choose outputs with \(setting: "feature") NAME"
      )
      let each = all.count / outputs.count
      groups = (0..<outputs.count).map { Array(all[$0 * each..<($0 + 1) * each]) }
      outputs.sort { $0.value.count > $1.value.count }
    }
    try require(
      groups.count == outputs.count, .mismatch,
      "anchors for \(counted(groups.count, "output")), but the model has \(outputs.count)",
      field: "anchors")
    return try zip(outputs, groups).map { output, anchors in
      .grid(output, try decoder(for: output, kind, anchors))
    }
  }

  static let anchorHint =
    "add \(setting: "detector") anchors=W,H,W,H,…, in cells of the grid for yolov2, in pixels of the "
    + "model's image for yolov3"

  private func decoder(
    for output: DetectorOutput, _ kind: GridDecoder.Kind,
    _ anchors: [(width: Double, height: Double)]
  ) throws -> GridDecoder {
    var shape = output.value.shape
    while shape.count > 3 { shape.removeFirst() }
    let known =
      try settings.integer("classes", of: output.name, in: 0...1 << 20) ?? labels?.count
    func classes(_ channels: Int) -> Int? {
      guard channels % anchors.count == 0 else { return nil }
      let classes = channels / anchors.count - 5
      return classes >= 0 && known ?? classes == classes ? classes : nil
    }
    let ends =
      switch output.channels {
      case .first: [shape[0]]
      case .last: [shape[2]]
      case nil: [shape[0], shape[2]]
      }
    guard let count = ends.lazy.compactMap(classes).first else {
      throw ModelError(
        .mismatch,
        "its shape \(output.value.shape) does not match \(anchors.count) boxes"
          + (known.map { " of \($0) classes" } ?? ""), field: output.name,
        hint: "channels = boxes · (classes + 5); check the anchors and labels")
    }
    var decoder = GridDecoder(kind: kind, classes: count, anchors: anchors)
    decoder.isSoftmax = try settings.integer("softmax", of: output.name, in: 0...1) ?? 1 == 1
    decoder.scale = try settings.number("scale_x_y", of: output.name) ?? 1
    decoder.isLogistic = try settings.integer("new_coords", of: output.name, in: 0...1) ?? 0 == 1
    return decoder
  }
}
