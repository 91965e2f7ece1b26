import CoreMLModel
import Formulas
import ImportSupport
import TensorCore

extension CaffeLayerType {
  /// The same elements with another shape
  static let reshape = single(
    SourceLayer(
      "Reshape",
      becomes: "reshape; reshapeStatic if it mixes a batch larger than 1",
      options: "`shape` with 0 and −1, `axis`, `num_axes`",
      refused: "more than five axes, which Core ML's blobs cannot have")
  ) { layer, network in
    let input = layer.input
    var shape = try reshapedShape(layer, of: input.wholeShape)
    if let batch = input.batch, let axis = batch.axis(reshaping: input.wholeShape, to: shape) {
      shape[axis] = 1
    }
    return try network.reshaped(input, to: shape, layer, output: layer.tops[0])
  }.withBatchAxis { layer, batch in
    let whole = layer.input.wholeShape
    return batch.axis(reshaping: whole, to: try reshapedShape(layer, of: whole))
  }

  private static func reshapedShape(_ layer: LayerCall, of shape: [Int]) throws -> [Int] {
    let parameters = layer.parameters("reshape_param")
    let rank = shape.count
    let first = try parameters.int("axis", default: 0)
    // The axis may be one past the last.
    let start = first >= 0 ? first : rank + first + 1
    let count = try parameters.int("num_axes", default: -1, atLeast: -1)
    let end = count == -1 ? rank : start + count
    try parameters.require(
      (0...rank).contains(start) && (start...rank).contains(end), "axis",
      "axes \(start) to \(end) do not exist in its bottom \(layer.input.shapeText)")
    let shapeParameters = parameters.message("shape")
    let dims = try shapeParameters.ints("dim", atLeast: -1)
    return try sizes(dims, of: shape, start..<end, shapeParameters)
  }

  private static func sizes(
    _ dims: [Int], of shape: [Int], _ range: Range<Int>, _ parameters: CaffeParameters
  ) throws -> [Int] {
    var sizes: [Int] = []
    for (index, dim) in dims.enumerated() {
      if dim != 0 {
        sizes.append(dim)
        continue
      }
      // 0 copies the size of the axis at the same index.
      try parameters.require(
        range.lowerBound + index < shape.count, "dim",
        "0 copies axis \(range.lowerBound + index), which its bottom \(shape) lacks")
      sizes.append(shape[range.lowerBound + index])
    }
    try parameters.require(
      sizes.filter({ $0 == -1 }).count <= 1, "dim", "\(dims) contains −1 more than once")
    let total = try checkedProduct(shape[range], limit: Limits.tensorElements)
    let known = try checkedProduct(sizes.filter { $0 != -1 }, limit: Limits.tensorElements)
    let isOpen = sizes.contains(-1)
    try parameters.require(
      isOpen ? known > 0 && total % known == 0 : known == total, "dim",
      "\(dims) does not match the \(total) elements of its bottom \(shape)")
    if isOpen { sizes = sizes.map { $0 == -1 ? total / known : $0 } }
    var result = shape
    result.replaceSubrange(range, with: sizes)
    return result
  }

  /// Several axes merged into one
  static let flatten = single(
    SourceLayer(
      "Flatten", becomes: "flatten; reshape for axes other than the last three",
      options: "`axis`, `end_axis`")
  ) { layer, network in
    let input = layer.input
    let (first, last) = try flattenedAxes(layer)
    let count = try input.count(first..<last + 1)
    var shape = input.shape
    shape.replaceSubrange(first...last, with: [count])
    let isImage =
      input.rank == 5 && first == 1 && last == 3 && input.constant == nil
      && Array(input.axes.dropFirst()) == [Placement.channel, Placement.height, Placement.width]
    if isImage {
      return CaffeTensor(
        network.add(layer.name, Flatten(), [input.blob], to: layer.tops[0]), shape,
        axes: [input.axes[0], Placement.channel])
    }
    return try network.reshaped(input, to: shape, layer, output: layer.tops[0])
  }.withBatchAxis { layer, batch in
    let (first, last) = try flattenedAxes(layer)
    return batch.axis < first ? batch.axis : batch.axis > last ? batch.axis - (last - first) : nil
  }

  private static func flattenedAxes(_ layer: LayerCall) throws -> (first: Int, last: Int) {
    let parameters = layer.parameters("flatten_param")
    let first = try layer.input.axis(parameters.int("axis"), "flatten_param.axis", of: layer)
    let last = try layer.input.axis(parameters.int("end_axis"), "flatten_param.end_axis", of: layer)
    try parameters.require(first <= last, "end_axis", "end_axis \(last) is before axis \(first)")
    return (first, last)
  }

  /// A permutation of the axes (SSD)
  static let permute = CaffeLayerType(
    SourceLayer(
      "Permute", becomes: "permute; transpose if a batch larger than 1 moves", options: "`order`")
  ) { layer, network in
    let input = network.five(try layer.onlyInput, for: layer.name)
    let order = try permutation(layer)
    let rank = order.count
    var permuted = input
    permuted.shape = order.map { input.shape[$0] }
    permuted.axes = order.map { input.axes[$0] }
    permuted.constant = nil
    var target = CaffeTensor.standardAxes(rank)
    // The batch axis gets no axis longer than 1; an axis on the sequence axis may stay there.
    if let batch = target.firstIndex(of: Placement.batch), permuted.shape[batch] != 1,
      permuted.axes[batch] != Placement.batch
    {
      target = CaffeWriter.orderedAxes(permuted.shape)
    }
    return [network.placed(permuted, axes: target, for: layer.name)]
  }.withBatchAxis { layer, batch in
    try permutation(layer).firstIndex(of: batch.axis)
  }

  private static func permutation(_ layer: LayerCall) throws -> [Int] {
    let parameters = layer.parameters("permute_param")
    var order = try parameters.ints("order", atLeast: 0)
    let rank = layer.input.shape.count
    // Axes that are not listed follow in ascending order.
    order += (0..<rank).filter { !order.contains($0) }
    try parameters.require(
      order.sorted() == Array(0..<rank), "order",
      "\(order) is not a permutation of the \(rank) axes")
    return order
  }

  /// The part of the first bottom at `offset` that has the size of the second bottom
  static let crop = CaffeLayerType(
    SourceLayer(
      "Crop", becomes: "crop of two inputs along H and W; slice along other axes",
      options: "`axis`, `offset`")
  ) { layer, network in
    try layer.requireBottoms(2...2)
    let parameters = layer.parameters("crop_param")
    let input = network.five(layer.inputs[0], for: layer.name)
    let rank = input.shape.count
    try layer.require(
      layer.inputs[1].shape.count == rank,
      "its bottoms \(input.shapeText) and \(layer.inputs[1].shapeText) have different ranks")
    let axis = try parameters.axis(of: input)
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
  }.withBatchAxis { layer, batch in
    let first = try layer.parameters("crop_param").axis(of: layer.input)
    let isWhole = layer.input.batch?.axis ?? first < first
    return layer.sharesBatch || isWhole ? layer.input.batch?.axis : nil
  }

  /// The bottom without `crop_size` elements at both ends of each axis (waifu2x)
  static let cropCenter = CaffeLayerType(
    SourceLayer(
      "CropCenter", becomes: "crop along H and W; slice along other axes",
      options: "`crop_center_param.crop_size`")
  ) { layer, network in
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
  }.withBatchAxis { layer, batch in
    let sizes = try layer.parameters("crop_center_param").ints("crop_size", atLeast: 0)
    return sizes.indices.contains(batch.axis) && sizes[batch.axis] > 0 ? nil : batch.axis
  }

  /// Items of the first bottom, at the indices in the second
  static let batchReindex = CaffeLayerType(
    SourceLayer("BatchReindex", becomes: "gather", version: 4), batchAxis: wholeBatch
  ) { layer, network in
    try layer.requireBottoms(2...2)
    let source = network.five(layer.inputs[0], for: layer.name)
    guard let axis = source.axes.first, layer.inputs[1].shape.count == 1 else {
      throw layer.error(
        "its bottoms have the shapes \(layer.inputs[0].shapeText) and \(layer.inputs[1].shapeText); they must be items and "
          + "a list of their indices")
    }
    let count = layer.inputs[1].shape[0]
    var list = ReshapeStatic()
    list.targetShape = [count]
    let positions = network.add(
      layer.part("places"), list, [network.five(layer.inputs[1], for: layer.name).blob])
    var gather = Gather()
    gather.axis = axis
    return [
      source.with(
        network.add(layer.name, gather, [source.blob, positions], to: layer.tops[0]),
        shape: [count] + source.shape.dropFirst())
    ]
  }

  /// Interleaves the channels of `group` groups
  static let shuffleChannel = single(
    SourceLayer(
      "ShuffleChannel", becomes: "reshape, permute, reshape", options: "`group`")
  ) { layer, network in
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
