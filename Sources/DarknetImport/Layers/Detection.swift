import ImportSupport
import TensorCore

/// The output of YOLO v1 on a grid of side × side cells: first the classes of all cells, then the
/// confidences, then the boxes.
struct DetectionLayer: DarknetLayer {
  static let source = SourceLayer("detection", becomes: "nothing: the raw numbers are an output")
  static let options = ["classes", "coords", "num", "side", "softmax", "sqrt"]
  static let trainingOptions = [
    "class_scale", "coord_scale", "forced", "jitter", "max", "noobject_scale", "object_scale",
    "random", "reorg", "rescore", "resize",
  ]

  private let classes: Int
  private let coords: Int
  private let count: Int
  private let side: Int

  init(_ section: ConfigurationSection) throws {
    classes = try section.int("classes", default: 1, in: 0...(1 << 20))
    coords = try section.int("coords", default: 1, in: 1...(1 << 20))
    count = try section.int("num", default: 1, in: 1...(1 << 16))
    side = try section.int("side", default: 7, in: 1...(1 << 14))
  }

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
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
