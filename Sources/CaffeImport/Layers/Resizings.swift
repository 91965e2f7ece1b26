import CoreMLModel
import ImportSupport
import TensorCore

extension CaffeLayerType {
  /// Bilinear resizing with aligned corners (DeepLab)
  static let interp = CaffeLayerType(
    SourceLayer(
      "Interp",
      becomes: "resizeBilinear with ALIGN_ENDPOINTS, after a crop if there is (negative) padding",
      options: "`height`, `width`, `zoom_factor`, `shrink_factor`, `pad_beg`, `pad_end`; a second "
        + "bottom gives the size unless `use_blob_size` is false", version: 3)
  ) { layer, network in
    try layer.requireBottoms(1...2)
    let input = layer.inputs[0]
    try layer.requireImages(input)
    let parameters = layer.parameters("interp_param")
    var image = network.images(input, for: layer.name)
    let begin = -(try parameters.int("pad_beg", default: 0, atMost: 0))
    let end = -(try parameters.int("pad_end", default: 0, atMost: 0))
    let extents = input.shape.suffix(2).map { $0 - begin - end }
    try parameters.require(
      extents.allSatisfy({ $0 > 0 }), "pad_beg",
      "the result of cropping \(input.shapeText) is empty")
    let size = try interpolatedSize(parameters, extents, layer.inputs.dropFirst().first)
    // For a single row or column, Caffe uses the first one, Core ML the middle.
    let rest = zip(size, extents).map { $0 == 1 ? $1 - 1 : 0 }
    if begin + end + rest[0] + rest[1] > 0 {
      var crop = Crop()
      crop.cropAmounts = BorderAmounts(
        top: begin, bottom: end + rest[0], left: begin, right: end + rest[1])
      image = image.with(
        network.add(layer.part("crop"), crop, [image.blob]),
        shape: Array(input.shape.prefix(2)) + zip(extents, rest).map { $0 - $1 })
    }
    var resize = ResizeBilinear()
    resize.targetSize = size
    resize.mode = .alignEndpoints
    return [network.add(resize, image, as: layer, shape: Array(input.shape.prefix(2)) + size)]
  }

  private static func interpolatedSize(
    _ parameters: CaffeParameters, _ extents: [Int], _ second: CaffeTensor?
  ) throws -> [Int] {
    if try parameters.bool("use_blob_size", default: second?.shape.count == 4) {
      guard let second, second.shape.count == 4 else {
        throw parameters.error(
          "use_blob_size", "it needs a second bottom with four axes, whose size it takes")
      }
      return Array(second.shape.suffix(2))
    }
    let zoom = try parameters.int("zoom_factor", default: 1, atLeast: 1)
    let shrink = try parameters.int("shrink_factor", default: 1, atLeast: 1)
    let hasFactor = parameters.has("zoom_factor") || parameters.has("shrink_factor")
    if !hasFactor || parameters.has("zoom_factor") == parameters.has("shrink_factor"),
      parameters.has("height"), parameters.has("width")
    {
      return [try parameters.int("height", atLeast: 1), try parameters.int("width", atLeast: 1)]
    }
    try parameters.require(hasFactor, "height", "it has neither a size nor a factor")
    return try extents.map { extent in
      let shrunk = (extent - 1) / shrink + 1
      return try checkedSum(
        [shrunk, checkedProduct([shrunk - 1, zoom - 1], limit: Limits.dimension)],
        limit: Limits.dimension)
    }
  }

  /// Moves blocks of pixels into channels like Darknet's reorg, which reads the values as an image
  /// with `stride` times the height and width and 1/stride² of the channels
  static let reorg = single(
    SourceLayer(
      "Reorg", becomes: "reshape, reorganizeData, reshape", options: "`stride`, `reverse`")
  ) { layer, network in
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
