import CoreMLModel
import ImportSupport
import TensorCore

/// Bilinear resizing with aligned corners (DeepLab)
enum Interp: CaffeLayerConverter {
  static let source = SourceLayer(
    "Interp",
    becomes: "resizeBilinear with ALIGN_ENDPOINTS, after a crop if there is (negative) padding",
    options: "`height`, `width`, `zoom_factor`, `shrink_factor`, `pad_beg`, `pad_end`; a second "
      + "bottom gives the size unless `use_blob_size` is false", version: 3)

  static func convert(_ layer: LayerCall, _ network: inout CaffeWriter) throws -> [CaffeTensor] {
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
    let size = try size(parameters, extents, layer.inputs.dropFirst().first)
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

  private static func size(
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
}
