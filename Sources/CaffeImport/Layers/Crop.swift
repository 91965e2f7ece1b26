import CoreMLModel
import Formulas
import ImportSupport

/// The part of the first bottom at `offset` that has the size of the second bottom
enum CropLayer: CaffeLayerConverter {
  static let source = SourceLayer(
    "Crop", becomes: "crop of two inputs along H and W; slice along other axes",
    options: "`axis`, `offset`")

  static func batchAxis(_ layer: LayerCall, _ batch: OmittedBatch) throws -> Int? {
    let axis = try layer.parameters("crop_param").int("axis")
    let first = try layer.input.axis(axis, "crop_param.axis", of: layer)
    let isWhole = layer.input.batch?.axis ?? first < first
    return layer.sharesBatch || isWhole ? layer.input.batch?.axis : nil
  }

  static func convert(_ layer: LayerCall, _ network: inout CaffeWriter) throws -> [CaffeTensor] {
    try layer.requireBottoms(2...2)
    let parameters = layer.parameters("crop_param")
    let input = network.five(layer.inputs[0], for: layer.name)
    let rank = input.shape.count
    try layer.require(
      layer.inputs[1].shape.count == rank,
      "its bottoms \(input.shapeText) and \(layer.inputs[1].shapeText) have different ranks")
    let axis = try input.axis(parameters.int("axis"), "crop_param.axis", of: layer)
    var offsets = try parameters.ints("offset", atLeast: 0)
    if offsets.count < 2 { offsets = [Int](repeating: offsets.first ?? 0, count: rank - axis) }
    try parameters.require(
      offsets.count == rank - axis, "offset", "\(offsets.count) offsets for \(rank - axis) axes")
    let ranges = try zip(axis..<rank, offsets).map { axis, offset in
      let end = offset + layer.inputs[1].shape[axis]
      try layer.require(
        end <= input.shape[axis],
        "\(layer.inputs[1].shapeText) at offset \(offset) is outside \(input.shapeText)")
      return offset..<end
    }
    let second = network.five(layer.inputs[1], for: layer.name)
    let positions = [Placement.height, Placement.width]
    if axis == rank - 2, Array(input.axes[axis...]) == positions,
      Array(second.axes[axis...]) == positions, second.axes == input.axes
    {
      var crop = Crop()
      crop.offset = offsets
      let shape = input.shape[..<axis] + layer.inputs[1].shape[axis...]
      return [
        input.with(
          network.add(layer.name, crop, [input.blob, second.blob], to: layer.tops[0]),
          shape: Array(shape))
      ]
    }
    var result = input
    for (index, range) in ranges.enumerated() {
      result = network.sliced(result, axis: axis + index, range, layer.part("\(axis + index)"))
    }
    return [result]
  }
}

/// The bottom without `crop_size` elements at both ends of each axis (waifu2x)
enum CropCenter: CaffeLayerConverter {
  static let source = SourceLayer(
    "CropCenter", becomes: "crop along H and W; slice along other axes",
    options: "`crop_center_param.crop_size`")

  static func batchAxis(_ layer: LayerCall, _ batch: OmittedBatch) throws -> Int? {
    let sizes = try layer.parameters("crop_center_param").ints("crop_size", atLeast: 0)
    return sizes.indices.contains(batch.axis) && sizes[batch.axis] > 0 ? nil : batch.axis
  }

  static func convert(_ layer: LayerCall, _ network: inout CaffeWriter) throws -> [CaffeTensor] {
    var result = network.five(try layer.onlyInput, for: layer.name)
    let parameters = layer.parameters("crop_center_param")
    let sizes = try parameters.ints("crop_size", atLeast: 0)
    try parameters.require(
      sizes.count == result.shape.count && zip(sizes, result.shape).allSatisfy({ 2 * $0 < $1 }),
      "crop_size", "\(sizes) of a bottom \(result.shapeText)")
    let isImage =
      Array(result.axes.suffix(2)) == [Placement.height, Placement.width] && sizes.count >= 2
    if isImage, sizes.dropLast(2).allSatisfy({ $0 == 0 }) {
      let (rows, columns) = (sizes[sizes.count - 2], sizes[sizes.count - 1])
      var crop = Crop()
      crop.cropAmounts = BorderAmounts(top: rows, bottom: rows, left: columns, right: columns)
      return [
        network.add(crop, result, as: layer, shape: zip(result.shape, sizes).map { $0 - 2 * $1 })
      ]
    }
    for (axis, size) in sizes.enumerated() {
      result = network.sliced(
        result, axis: axis, size..<result.shape[axis] - size, layer.part("\(axis)"))
    }
    return [result]
  }
}
