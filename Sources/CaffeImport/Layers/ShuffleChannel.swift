import CoreMLModel
import ImportSupport
import TensorCore

/// Interleaves the channels of `group` groups
enum ShuffleChannel: SingleInputConverter {
  static let source = SourceLayer(
    "ShuffleChannel", becomes: "reshape, permute, reshape", options: "`group`")

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
    let input = layer.input
    try layer.requireImages(input)
    let parameters = layer.parameters("shuffle_channel_param")
    let groups = try parameters.int("group", default: 1, atLeast: 1)
    let channels = input.shape[1]
    try parameters.require(
      channels % groups == 0, "group", "\(channels) channels are not divisible by \(groups) groups")
    let image = network.images(input, for: layer.name)
    let area = try input.count(2..<4)
    var split = Reshape()
    split.targetShape = [groups, channels / groups, area]
    let parts = network.add(layer.part("groups"), split, [image.blob])
    let transposed = network.add(
      layer.part("turned"), Permute().with(\.axis, [0, 2, 1, 3]), [parts])
    var join = Reshape()
    join.targetShape = Array(input.shape[1...])
    return image.with(network.add(layer.name, join, [transposed], to: layer.tops[0]))
  }
}
