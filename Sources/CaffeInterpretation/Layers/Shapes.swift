import Interpretation
import TensorCore

extension CaffeOperations {
  static let shapes: [String: CaffeOperation] = [
    "Reshape": .one(reshape),
    "Flatten": .one(flatten),
    "Permute": .one(permute),
    "Crop": .one(bottoms: 2...2, crop),
    "CropCenter": .one { layer in
      let sizes = try layer.settings("crop_center_param").ints("crop_size")
      try layer.require(sizes.count == layer.input.rank, "it has \(sizes.count) sizes")
      var result = layer.input
      for (axis, size) in sizes.enumerated() {
        let end = result.shape[axis] - size
        try layer.require(size >= 0 && size < end, "crop_size \(size)")
        result = result.slice(axis, size..<end)
      }
      return result
    },
    "BatchReindex": .one(bottoms: 2...2) { layer in
      let input = layer.input
      try layer.require(input.rank > 0 && input.shape[0] > 0, "its bottom is empty")
      let rows = try layer.bottoms[1].values.map { value in
        guard let row = Int(exactly: value.rounded(.towardZero)), (0..<input.shape[0]).contains(row)
        else { throw layer.fault("\(value) is not the index of an item") }
        return input.slice(0, row..<row + 1)
      }
      try layer.require(!rows.isEmpty, "it picks no items")
      return .concatenated(rows, axis: 0)
    },
    "ShuffleChannel": .one { layer in
      let (items, channels, height, width) = try layer.imageShape()
      let group = try layer.settings("shuffle_channel_param").size("group", default: 1)
      try layer.require(channels % group == 0, "\(channels) channels in \(group) groups")
      // shuffle_channel_layer.cpp of farmingyard/ShuffleNet: transposes [group, C / group].
      return try layer.input.reshaped([items, group, channels / group, height, width])
        .transposed([0, 2, 1, 3, 4]).reshaped(layer.input.shape)
    },
  ]

  /// reshape_layer.cpp: 0 copies the size of the same axis, and −1 is inferred.
  private static func reshape(_ layer: LayerRun) throws -> DoubleArray {
    let settings = layer.settings("reshape_param")
    let input = layer.input
    let first = try settings.int("axis", default: 0)
    let start = first >= 0 ? first : input.rank + first + 1
    let count = try settings.int("num_axes", default: -1)
    let end = count == -1 ? input.rank : start + count
    try layer.require(
      start >= 0 && start <= end && end <= input.rank, "axes \(start) to \(end) of \(input.shape)")
    var sizes = try settings.message("shape").ints("dim")
    for (index, size) in sizes.enumerated() where size == 0 {
      try layer.require(start + index < input.rank, "dim \(index) copies a missing axis")
      sizes[index] = input.shape[start + index]
    }
    let total = input.count(start..<end)
    let known = try checkedProduct(sizes.filter { $0 != -1 }, limit: Limits.tensorElements)
    if let open = sizes.firstIndex(of: -1) {
      try layer.require(known > 0 && total % known == 0, "\(total) elements for \(sizes)")
      sizes[open] = total / known
    }
    var shape = input.shape
    shape.replaceSubrange(start..<end, with: sizes)
    return try input.reshaped(shape)
  }

  /// flatten_layer.cpp
  private static func flatten(_ layer: LayerRun) throws -> DoubleArray {
    let settings = layer.settings("flatten_param")
    let input = layer.input
    let start = try layer.axis(settings.int("axis"), of: input)
    let end = try layer.axis(settings.int("end_axis"), of: input)
    try layer.require(start <= end, "axes \(start) to \(end)")
    return try input.reshaped(
      input.shape[..<start] + [input.count(start..<end + 1)] + input.shape[(end + 1)...])
  }

  /// permute_layer.cpp of weiliu89/caffe, branch ssd: axes that are missing in `order` follow at
  /// the end.
  private static func permute(_ layer: LayerRun) throws -> DoubleArray {
    var order = try layer.settings("permute_param").ints("order")
    order += layer.input.shape.indices.filter { !order.contains($0) }
    try layer.require(order.sorted() == Array(layer.input.shape.indices), "order is \(order)")
    return layer.input.transposed(order)
  }

  /// crop_layer.cpp: crops to the size of the second bottom from `axis` on.
  private static func crop(_ layer: LayerRun) throws -> DoubleArray {
    let settings = layer.settings("crop_param")
    var result = layer.input
    let like = layer.bottoms[1].shape
    let start = try layer.axis(settings.int("axis"), of: result)
    let offsets = try settings.ints("offset")
    try layer.require(
      like.count == result.rank && (offsets.count <= 1 || offsets.count == result.rank - start),
      "\(offsets.count) offsets for \(result.shape) and \(like)")
    for axis in start..<result.rank {
      let offset = offsets.count > 1 ? offsets[axis - start] : offsets.first ?? 0
      try layer.require(
        offset >= 0 && offset + like[axis] <= result.shape[axis], "offset \(offset) of axis \(axis)"
      )
      result = result.slice(axis, offset..<offset + like[axis])
    }
    return result
  }
}
