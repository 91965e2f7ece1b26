import CoreMLModel
import ImportSupport
import TensorCore

/// Repeats every element, or, with two bottoms, moves every element to the position of its window's
/// maximum
enum UpsampleLayer: CaffeLayerConverter {
  static let source = SourceLayer(
    "Upsample", "Unpooling",
    becomes:
      "upsample; with the mask of a pooling layer, products with its planes, concat, reorganizeData",
    options: "`scale`, `scale_h`, `scale_w`, `upsample_h`, `upsample_w`, `pad_out_h`, `pad_out_w`",
    refused: "a mask that is not the second top of a pooling layer of the same size")

  static func convert(_ layer: LayerCall, _ network: inout CaffeWriter) throws -> [CaffeTensor] {
    try layer.requireBottoms(1...2)
    let input = layer.inputs[0]
    try layer.requireImages(input)
    let image = network.images(input, for: layer.name)
    let size = try size(layer, image)
    if layer.inputs.count == 2 {
      return [try unpooled(layer, image, layer.inputs[1], size, &network)]
    }
    let extents = image.shape.suffix(2)
    try layer.require(
      zip(size, extents).allSatisfy({ $0 % $1 == 0 }),
      unsupported: "\(extents.map { $0 }) to \(size) without a mask", field: "upsample_param",
      hint: "integer multiples are supported")
    var upsample = CoreMLModel.Upsample()
    upsample.scalingFactor = zip(size, extents).map { $0 / $1 }
    upsample.mode = .nearest
    return [network.add(upsample, image, as: layer, shape: Array(image.shape.prefix(2)) + size)]
  }

  private static func size(_ layer: LayerCall, _ image: CaffeTensor) throws -> [Int] {
    let parameters = layer.parameters(
      layer.type == "Unpooling" ? "unpooling_param" : "upsample_param")
    let extents = Array(image.shape.suffix(2))
    for fields in [["upsample_h", "upsample_w"], ["out_height", "out_width"]]
    where fields.allSatisfy(parameters.has) {
      return try fields.map { try parameters.int($0, atLeast: 1) }
    }
    let scale = try parameters.int("scale", default: 2, atLeast: 1)
    return try zip(["h", "w"], extents).map { side, extent in
      let factor = try parameters.int("scale_\(side)", default: scale, atLeast: 1)
      let isShorter = try parameters.bool("pad_out_\(side)", default: false)
      return try checkedProduct([extent, factor], limit: Limits.dimension) - (isShorter ? 1 : 0)
    }
  }

  private static func unpooled(
    _ layer: LayerCall, _ image: CaffeTensor, _ mask: CaffeTensor, _ size: [Int],
    _ network: inout CaffeWriter
  ) throws -> CaffeTensor {
    guard let maxima = mask.maxima, maxima.extents == size, mask.shape == image.shape else {
      throw layer.unsupported(
        "its mask does not come from a pooling layer of \(size[0]) × \(size[1])", field: "bottom",
        hint: "Core ML has no such scatter layer; use a custom layer")
    }
    guard maxima.kernel[0] == maxima.kernel[1], maxima.kernel[0] > 1 else {
      throw layer.unsupported("windows of \(maxima.kernel) are not supported", field: "bottom")
    }
    let channels = image.shape[1]
    let parts = (0..<maxima.kernel[0] * maxima.kernel[1]).map { index in
      let plane = network.slice(
        maxima.blob, index * channels..<(index + 1) * channels, layer.part("plane\(index)"))
      return network.product(image.blob, plane, layer.part("placed\(index)"))
    }
    let stack = network.joined(parts, alongSequence: false, layer.part("planes"))
    var reorganize = ReorganizeData()
    reorganize.mode = .depthToSpace
    reorganize.blockSize = maxima.kernel[0]
    let whole = image.shape.suffix(2).map { $0 * maxima.kernel[0] }
    let shape = Array(image.shape.prefix(2)) + size
    if whole == size {
      return image.with(
        network.add(layer.name, reorganize, [stack], to: layer.tops[0]), shape: shape)
    }
    let spread = network.add(layer.part("spread"), reorganize, [stack])
    var crop = Crop()
    crop.cropAmounts = BorderAmounts(
      top: 0, bottom: whole[0] - size[0], left: 0, right: whole[1] - size[1])
    return image.with(network.add(layer.name, crop, [spread], to: layer.tops[0]), shape: shape)
  }
}
