import ImportSupport

/// A grid of YOLO v3 and v4: x, y, w, h, the confidence and the classes for each box of `mask`; in
/// `Gaussian_yolo`, x, y, w and h are followed by their uncertainties.
///
/// The output is the raw grid, before Darknet's logistic function and `scale_x_y`.
struct YOLOLayer: DarknetLayer {
  static let source = SourceLayer(
    "yolo", "yolo4", "gaussian_yolo", becomes: "nothing: the raw grid is an output")
  static let options = ["classes", "num", "mask", "anchors", "scale_x_y", "new_coords"] + recorded
  static let trainingOptions = [
    "cls_normalizer", "counters_per_class", "delta_normalizer", "dets_for_show",
    "dets_for_track", "embedding_layer", "focal_loss", "iou_loss", "iou_normalizer",
    "iou_thresh_kind", "jitter", "label_smooth_eps", "max", "max_delta", "obj_normalizer",
    "objectness_smooth", "random", "resize", "show_details", "sim_thresh", "track_ciou_norm",
    "track_history_size", "uc_normalizer",
  ]
  private static let recorded = [
    "ignore_thresh", "truth_thresh", "iou_thresh", "nms_kind", "beta_nms", "yolo_point", "map",
  ]

  private let classes: Int
  private let count: Int
  private let mask: [Int]
  /// Messages about invalid anchors; the grid does not depend on them.
  private let faults: [String]

  init(_ section: ConfigurationSection) throws {
    classes = try section.int("classes", default: 20, in: 0...(1 << 20))
    count = try section.int("num", default: 1, in: 1...(1 << 16))
    mask = try section.ints("mask") ?? Array(0..<count)
    var faults = [try section.anchorFault(count)].compactMap { $0 }
    if let option = section["mask"] {
      guard !mask.isEmpty else { throw section.error(option, "it refers to no anchor") }
      if let position = mask.first(where: { [count] in !(0..<count).contains($0) }) {
        faults.append(
          "line \(option.line): mask: anchor \(position) of \(count); boxes cannot be decoded")
      }
    }
    self.faults = faults
  }

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    let isGaussian = call.section.kind == "gaussian_yolo"
    let grid = try call.grid(
      boxes: mask.count, numbers: classes + (isGaussian ? 9 : 5),
      isGaussian ? "boxes · (classes + 9)" : "boxes · (classes + 5)")
    network.writer.notes += faults
    network.heads.append(
      DetectionHead(
        call, kind: isGaussian ? "Gaussian_yolo" : "yolo",
        defaults: [
          ("classes", "20"), ("num", "1"), ("mask", mask.map(String.init).joined(separator: ",")),
          ("anchors", ConfigurationSection.defaultAnchors(count)), ("scale_x_y", "1"),
          ("new_coords", "0"),
        ], others: Self.recorded))
    return grid
  }
}
