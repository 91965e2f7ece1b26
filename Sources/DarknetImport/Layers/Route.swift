import ImportSupport
import TensorCore

/// Concatenates the outputs of earlier layers along the channels; with `groups`, only part
/// `group_id` of each. `route_lhalf`, from the implementation in PyTorch, uses the first halves.
struct RouteLayer: DarknetLayer {
  static let source = SourceLayer(
    "route", "route2", "route3", "route_lhalf",
    becomes: "nothing for one layer; slice for a group; concat; images of different sizes as "
      + "one vector", refused: "groups that do not divide the channels evenly")
  static let options = ["layers", "groups", "group_id"]
  static let trainingOptions = ["stream", "wait_stream"]

  private let layers: [Int]
  private let groups: Int
  private let group: Int

  init(_ section: ConfigurationSection) throws {
    let option = try section.required("layers")
    layers = try section.ints("layers") ?? []
    guard !layers.isEmpty else { throw section.error(option, "it refers to no layer") }
    groups = try section.int(
      "groups", default: section.kind == "route_lhalf" ? 2 : 1, in: 1...Limits.dimension)
    group = try section.int("group_id", default: 0)
    try require(
      group < groups,
      "line \(section.line): group_id \(group) is out of range for \(groups) groups, counted from 0"
    )
  }

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    let parts = try layers.map { try call.output($0) }
    let first = parts[0]
    let isImage = parts.allSatisfy { $0.isImage && $0.hasSize(of: first) }
    var blobs: [String] = []
    var channels: [Int] = []
    for (index, part) in parts.enumerated() {
      let count = isImage ? part.channels : part.count
      guard count % groups == 0 else {
        throw call.unsupported(
          "the \(count) channels of layer \(layers[index]) are not divisible into \(groups) groups")
      }
      let own = count / groups
      let suffix = parts.count == 1 ? "" : "_\(index)"
      var blob = isImage ? part.blob : network.flattened(part, for: "\(call.name)\(suffix)")
      if groups > 1 {
        let name = parts.count == 1 ? call.name : "\(call.name)__group\(suffix)__"
        blob = network.slice(blob, group * own..<(group + 1) * own, name)
      }
      blobs.append(blob)
      channels.append(own)
    }
    let total = try checkedSum(channels, limit: Limits.dimension)
    let blob = network.joined(blobs, alongSequence: false, call.name)
    return isImage
      ? try DarknetTensor(blob, total, first.height, first.width) : try .vector(blob, total)
  }
}
