import ImportSupport

/// The grid of YOLO v2: x, y, w, h, the confidence and the classes for each of `num` boxes.
///
/// The output is the raw grid, before Darknet's logistic function and softmax.
struct RegionLayer: DarknetLayer {
  static let source = SourceLayer("region", becomes: "nothing: the raw grid is an output")
  static let options = ["classes", "coords", "num", "anchors"] + recorded
  static let trainingOptions = [
    "absolute", "bias_match", "class_scale", "classfix", "coord_scale", "focal_loss", "jitter",
    "log", "mask_scale", "max", "noobject_scale", "object_scale", "random", "rescore", "resize",
    "sqrt",
  ]
  private static let recorded = ["softmax", "background", "thresh", "tree", "map"]

  private let classes: Int
  private let coords: Int
  private let count: Int
  private let fault: String?

  init(_ section: ConfigurationSection) throws {
    classes = try section.int("classes", default: 20, in: 0...(1 << 20))
    coords = try section.int("coords", default: 4, in: 4...(1 << 20))
    count = try section.int("num", default: 1, in: 1...(1 << 16))
    fault = try section.anchorFault(count)
  }

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
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
