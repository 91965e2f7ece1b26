import ImportSupport
import TensorCore

extension DarknetLayer {
  /// The grid of YOLO v2: x, y, w, h, the confidence and the classes for each of `num` boxes.
  ///
  /// The output is the raw grid, before Darknet's logistic function and softmax.
  static let region = DarknetLayer(
    SourceLayer("region", becomes: "nothing: the raw grid is an output"),
    options: [
      "classes", "coords", "num", "anchors", "softmax", "background", "thresh", "tree", "map",
    ],
    trainingOptions: [
      "absolute", "bias_match", "class_scale", "classfix", "coord_scale", "focal_loss", "jitter",
      "log", "mask_scale", "max", "noobject_scale", "object_scale", "random", "rescore", "resize",
      "sqrt",
    ]
  ) { section in
    let classes = try section.int("classes", default: 20, in: 0...(1 << 20))
    let coords = try section.int("coords", default: 4, in: 4...(1 << 20))
    let count = try section.int("num", default: 1, in: 1...(1 << 16))
    let fault = try section.anchorFault(count)
    return { call, network in
      let grid = try call.grid(
        boxes: count, numbers: classes + coords + 1, "num · (classes + coords + 1)")
      if let fault { network.writer.notes.append(fault) }
      network.heads.append(
        DetectionHead(
          call, kind: "region",
          defaults: [
            ("classes", "20"), ("coords", "4"), ("num", "1"), ("softmax", "0"),
            ("background", "0"), ("anchors", ConfigurationSection.defaultAnchors(count)),
          ], others: ["thresh", "tree", "map"]))
      return grid
    }
  }

  private static let recordedForYOLO = [
    "ignore_thresh", "truth_thresh", "iou_thresh", "nms_kind", "beta_nms", "yolo_point", "map",
  ]

  /// A grid of YOLO v3 and v4: x, y, w, h, the confidence and the classes for each box of `mask`; in
  /// `Gaussian_yolo`, x, y, w and h are followed by their uncertainties.
  ///
  /// The output is the raw grid, before Darknet's logistic function and `scale_x_y`.
  static let yolo = DarknetLayer(
    SourceLayer(
      "yolo", "yolo4", "gaussian_yolo", becomes: "nothing: the raw grid is an output"),
    options: ["classes", "num", "mask", "anchors", "scale_x_y", "new_coords"] + recordedForYOLO,
    trainingOptions: [
      "cls_normalizer", "counters_per_class", "delta_normalizer", "dets_for_show",
      "dets_for_track", "embedding_layer", "focal_loss", "iou_loss", "iou_normalizer",
      "iou_thresh_kind", "jitter", "label_smooth_eps", "max", "max_delta", "obj_normalizer",
      "objectness_smooth", "random", "resize", "show_details", "sim_thresh", "track_ciou_norm",
      "track_history_size", "uc_normalizer",
    ]
  ) { section in
    let classes = try section.int("classes", default: 20, in: 0...(1 << 20))
    let count = try section.int("num", default: 1, in: 1...(1 << 16))
    let mask = try section.ints("mask") ?? Array(0..<count)
    var found = [try section.anchorFault(count)].compactMap { $0 }
    if let option = section["mask"],
      let position = mask.first(where: { !(0..<count).contains($0) })
    {
      found.append(
        "line \(option.line): mask: anchor \(position) of \(count); boxes cannot be decoded")
    }
    let faults = found
    return { call, network in
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
          ], others: recordedForYOLO))
      return grid
    }
  }

  /// The output of YOLO v1 on a grid of side × side cells: first the classes of all cells, then the
  /// confidences, then the boxes.
  static let detection = DarknetLayer(
    SourceLayer("detection", becomes: "nothing: the raw numbers are an output"),
    options: ["classes", "coords", "num", "side", "softmax", "sqrt"],
    trainingOptions: [
      "class_scale", "coord_scale", "forced", "jitter", "max", "noobject_scale", "object_scale",
      "random", "reorg", "rescore", "resize",
    ]
  ) { section in
    let classes = try section.int("classes", default: 1, in: 0...(1 << 20))
    let coords = try section.int("coords", default: 1, in: 1...(1 << 20))
    let count = try section.int("num", default: 1, in: 1...(1 << 16))
    let side = try section.int("side", default: 7, in: 1...(1 << 14))
    return { call, network in
      var output = try call.input
      let numbers = try checkedSum(
        [checkedProduct([coords + 1, count], limit: Limits.dimension), classes])
      let total = try checkedProduct([side, side, numbers], limit: Limits.tensorElements)
      try call.require(
        output.count == total,
        "its input has \(output.count) numbers, but \(side) × \(side) cells need \(total)",
        hint: "output of the layer before it: side² · ((1 + coords) · num + classes)")
      output.isGrid = true
      network.heads.append(
        DetectionHead(
          call, kind: "detection",
          defaults: [
            ("classes", "1"), ("coords", "1"), ("num", "1"), ("side", "7"), ("softmax", "0"),
            ("sqrt", "0"),
          ], others: []))
      return output
    }
  }
}
