import CoreMLModel
import ImportSupport
import TensorCore

/// Moves blocks of pixels into channels like Darknet's reorg, which reads the values as an image
/// with `stride` times the height and width and 1/stride² of the channels
enum Reorg: SingleInputConverter {
  static let source = SourceLayer(
    "Reorg", becomes: "reshape, reorganizeData, reshape", options: "`stride`, `reverse`")

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
    let input = layer.input
    try layer.requireImages(input)
    let parameters = layer.parameters("reorg_param")
    let stride = try parameters.int("stride", default: 2, atLeast: 2, atMost: 1024)
    let isReverse = try parameters.bool("reverse", default: false)
    let area = stride * stride
    let (channels, height, width) = (input.shape[1], input.shape[2], input.shape[3])
    let image = network.images(input, for: layer.name)

    var reorganize = ReorganizeData()
    reorganize.blockSize = stride
    var before = Reshape()
    var shape = input.shape
    if isReverse {
      shape = [shape[0], channels / area, height * stride, width * stride]
      before.targetShape = [channels, height, width]
      reorganize.mode = .depthToSpace
    } else {
      shape = [shape[0], channels * area, height / stride, width / stride]
      before.targetShape = [channels / area, height * stride, width * stride]
      reorganize.mode = .spaceToDepth
    }
    try parameters.require(
      channels % area == 0 && (isReverse || (height % stride == 0 && width % stride == 0)),
      "stride", "stride \(stride) does not divide its bottom \(input.shapeText)")
    let grid =
      isReverse ? image.blob : network.add(layer.part("grid"), before, [image.blob])
    if isReverse {
      return image.with(
        network.add(layer.name, reorganize, [grid], to: layer.tops[0]), shape: shape)
    }
    let blocks = network.add(layer.part("blocks"), reorganize, [grid])
    var after = Reshape()
    after.targetShape = Array(shape[1...])
    return image.with(network.add(layer.name, after, [blocks], to: layer.tops[0]), shape: shape)
  }
}
