import Interpretation
import TensorCore

extension CaffeOperations {
  static let resizings: [String: CaffeOperation] = [
    "Interp": .one(bottoms: 1...2, interpolate),
    "Reorg": .one(reorganize),
  ]

  /// interp_layer.cpp of DeepLab: bilinear resizing with aligned corners, after (negative) padding.
  private static func interpolate(_ layer: LayerRun) throws -> DoubleArray {
    let settings = layer.settings("interp_param")
    let (items, channels, height, width) = try layer.imageShape()
    let begin = -(try settings.int("pad_beg", default: 0))
    let end = -(try settings.int("pad_end", default: 0))
    try layer.require(
      begin >= 0 && end >= 0 && begin + end < min(height, width), "padding \(-begin), \(-end)")
    let extents = [height - begin - end, width - begin - end]
    var size: [Int]
    let second = layer.bottoms.dropFirst().first
    if try settings.bool("use_blob_size", default: second != nil), let second {
      try layer.require(second.rank == 4, "its second bottom is \(second.shape)")
      size = Array(second.shape.suffix(2))
    } else {
      let (hasShrink, hasZoom) = (settings.has("shrink_factor"), settings.has("zoom_factor"))
      let shrink = try settings.size("shrink_factor", default: 1)
      let zoom = try settings.size("zoom_factor", default: 1)
      if hasShrink || hasZoom,
        hasShrink != hasZoom || !settings.has("height") || !settings.has("width")
      {
        size = extents.map { extent in
          let shrunk = (extent - 1) / shrink + 1
          return shrunk + (shrunk - 1) * (zoom - 1)
        }
      } else {
        size = [try settings.size("height"), try settings.size("width")]
      }
    }
    var result = try DoubleArray(shape: [items, channels] + size)
    func sample(_ index: Int, _ axis: Int) -> (Int, Int, Double) {
      let ratio = size[axis] > 1 ? Double(extents[axis] - 1) / Double(size[axis] - 1) : 0
      let position = ratio * Double(index)
      let low = min(Int(position), extents[axis] - 1)
      return (low, min(low + 1, extents[axis] - 1), position - Double(low))
    }
    let columns = (0..<size[1]).map { sample($0, 1) }
    for row in 0..<size[0] {
      let (top, bottom, down) = sample(row, 0)
      for plane in 0..<items * channels {
        let start = (plane * height + begin) * width + begin
        for (column, (left, right, across)) in columns.enumerated() {
          let value = { layer.input.values[start + $0 * width + $1] }
          result.values[(plane * size[0] + row) * size[1] + column] =
            (1 - down) * ((1 - across) * value(top, left) + across * value(top, right))
            + down * ((1 - across) * value(bottom, left) + across * value(bottom, right))
        }
      }
    }
    return result
  }

  /// reorg_cpu of Darknet's blas.c, as copied by the forks.
  private static func reorganize(_ layer: LayerRun) throws -> DoubleArray {
    let settings = layer.settings("reorg_param")
    let (items, channels, height, width) = try layer.imageShape()
    let stride = try settings.size("stride")
    let isReversed = try settings.bool("reverse", default: false)
    try layer.require(
      stride <= 1 << 15 && channels % (stride * stride) == 0
        && (isReversed || (height % stride == 0 && width % stride == 0)),
      "stride \(stride) of \(layer.input.shape)")
    let out = channels / (stride * stride)
    var result = try DoubleArray(
      shape: isReversed
        ? [items, out, height * stride, width * stride]
        : [items, channels * stride * stride, height / stride, width / stride])
    let length = channels * height * width
    for index in 0..<items * length {
      let (item, inner) = (index / length, index % length)
      let (k, j, i) = (inner / (height * width), inner / width % height, inner % width)
      let column = i * stride + k / out % stride
      let row = j * stride + k / out / stride
      let outer = column + width * stride * (row + height * stride * (k % out))
      if isReversed {
        result.values[item * length + outer] = layer.input.values[item * length + inner]
      } else {
        result.values[item * length + inner] = layer.input.values[item * length + outer]
      }
    }
    return result
  }
}
