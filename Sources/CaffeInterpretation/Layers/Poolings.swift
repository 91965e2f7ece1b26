import Interpretation
import TensorCore

extension CaffeOperations {
  static let poolings: [String: CaffeOperation] = [
    "Pooling": CaffeOperation(pooling),
    "SPP": .one(pyramid),
    "Upsample": .one(bottoms: 1...2) { try upsample($0, $0.settings("upsample_param")) },
    "Unpooling": .one(bottoms: 1...2) { try upsample($0, $0.settings("unpooling_param")) },
  ]

  private static func pooling(_ layer: LayerRun) throws -> [DoubleArray] {
    let settings = layer.settings("pooling_param")
    let (_, _, height, width) = try layer.imageShape()
    let isGlobal = try settings.bool("global_pooling")
    let kernel =
      isGlobal
      ? [height, width]
      : try settings.sizes("kernel_size", named: "kernel", default: nil, atLeast: 1)
    let stride = try settings.sizes("stride", default: 1, atLeast: 1)
    let pad = try settings.sizes("pad", default: 0)
    // NVIDIA's and other forks' fields for rounding down.
    let isFloor =
      try settings.symbol("round_mode", default: "CEIL") == "FLOOR"
      || !settings.bool("ceil_mode", default: true)
    let windows = PoolingWindows(
      method: try settings.symbol("pool"), kernel: kernel, stride: stride, pad: pad,
      isFloor: isFloor)
    let (values, positions) = try windows.pooled(layer.input, layer)
    return layer.topCount > 1 ? [values, positions] : [values]
  }

  /// spp_layer.cpp: 1, 4, 16, … windows, with each level flattened.
  private static func pyramid(_ layer: LayerRun) throws -> DoubleArray {
    let settings = layer.settings("spp_param")
    let (items, _, height, width) = try layer.imageShape()
    let levels = try settings.size("pyramid_height")
    try layer.require(levels <= 16, "pyramid_height is \(levels)")
    let parts = try (0..<levels).map { level in
      let bins = 1 << level
      let kernel = [height, width].map { ($0 + bins - 1) / bins }
      let pad = zip(kernel, [height, width]).map { ($0 * bins - $1 + 1) / 2 }
      let windows = PoolingWindows(
        method: try settings.symbol("pool"), kernel: kernel, stride: kernel, pad: pad,
        isFloor: false)
      let pooled = try windows.pooled(layer.input, layer).values
      return try pooled.reshaped([items, pooled.count / max(1, items)])
    }
    return .concatenated(parts, axis: 1)
  }

  /// upsample_layer.cpp of alexgkendall/caffe-segnet: each element moves to the position of its
  /// window's maximum; without a mask, every element is repeated.
  private static func upsample(_ layer: LayerRun, _ settings: CaffeSettings) throws -> DoubleArray {
    let (items, channels, height, width) = try layer.imageShape()
    var size: [Int] = []
    for fields in [["upsample_h", "upsample_w"], ["out_height", "out_width"]]
    where size.isEmpty && fields.allSatisfy(settings.has) {
      size = try fields.map { try settings.size($0) }
    }
    if size.isEmpty {
      let scale = try settings.size("scale", default: 2)
      size = try [("h", height), ("w", width)].map { side, extent in
        let cut = try settings.bool("pad_out_\(side)", default: false) ? 1 : 0
        return try extent * settings.size("scale_\(side)", default: scale) - cut
      }
    }
    var result = try DoubleArray(shape: [items, channels] + size)
    let (target, source) = (size[0] * size[1], height * width)
    if layer.bottoms.count == 2 {
      try layer.require(layer.bottoms[1].count == layer.input.count, "its bottoms differ in size")
      for index in layer.input.values.indices {
        let position = layer.bottoms[1].values[index]
        guard position >= 0, position < Double(target) else { continue }
        result.values[index / source * target + Int(position)] = layer.input.values[index]
      }
      return result
    }
    try layer.require(
      size[0] % max(1, height) == 0 && size[1] % max(1, width) == 0 && source > 0,
      "\(height) × \(width) is not repeated to \(size)")
    let factors = [size[0] / height, size[1] / width]
    for index in result.values.indices {
      let (row, column) = (index % target / size[1], index % size[1])
      result.values[index] =
        layer.input.values[index / target * source + row / factors[0] * width + column / factors[1]]
    }
    return result
  }
}

extension LayerRun {
  /// N, C, H and W of the first bottom.
  func imageShape() throws -> (Int, Int, Int, Int) {
    let shape = input.shape
    try require(shape.count == 4, "its bottom \(shape) must have four axes")
    return (shape[0], shape[1], shape[2], shape[3])
  }
}

/// pooling_layer.cpp; for STOCHASTIC, the test kernel in pooling_layer.cu.
struct PoolingWindows {
  let method: String
  let kernel: [Int]
  let stride: [Int]
  let pad: [Int]
  let isFloor: Bool

  /// `PoolingLayer::Reshape`: rounds up; with padding, no window starts after the image.
  private func count(_ extent: Int, _ axis: Int) -> Int {
    let room = extent + 2 * pad[axis] - kernel[axis]
    if room < 0 { return 0 }
    var count = (isFloor ? room : room + stride[axis] - 1) / stride[axis] + 1
    if pad[0] > 0 || pad[1] > 0, (count - 1) * stride[axis] >= extent + pad[axis] { count -= 1 }
    return count
  }

  /// The values, and the indices of the maxima in their planes.
  func pooled(
    _ input: DoubleArray, _ layer: LayerRun
  ) throws -> (values: DoubleArray, positions: DoubleArray) {
    let (items, channels, height, width) = (
      input.shape[0], input.shape[1], input.shape[2], input.shape[3]
    )
    let out = [count(height, 0), count(width, 1)]
    try layer.require(
      out.allSatisfy { $0 > 0 }, "windows \(kernel) do not fit \(height) × \(width)")
    guard ["MAX", "AVE", "STOCHASTIC"].contains(method) else {
      throw layer.missing("pool is \(method)")
    }
    var values = try DoubleArray(shape: [items, channels] + out)
    var positions = try DoubleArray(shape: method == "MAX" ? values.shape : [0])
    var index = 0
    for plane in 0..<items * channels {
      let start = plane * height * width
      for row in 0..<out[0] {
        for column in 0..<out[1] {
          let (top, left) = (row * stride[0] - pad[0], column * stride[1] - pad[1])
          // The average includes the padding, but nothing outside it.
          let area =
            (min(top + kernel[0], height + pad[0]) - top)
            * (min(left + kernel[1], width + pad[1]) - left)
          let rows = max(top, 0)..<max(max(top, 0), min(top + kernel[0], height))
          let columns = max(left, 0)..<max(max(left, 0), min(left + kernel[1], width))
          var (best, position) = (-Double(Float.greatestFiniteMagnitude), -1)
          var (sum, squares) = (0.0, 0.0)
          for y in rows {
            for x in columns {
              let value = input.values[start + y * width + x]
              if value > best { (best, position) = (value, y * width + x) }
              sum += value
              squares += value * value
            }
          }
          switch method {
          case "MAX":
            values.values[index] = best
            positions.values[index] = Double(position)
          case "AVE": values.values[index] = sum / Double(area)
          default: values.values[index] = sum > 0 ? squares / sum : 0
          }
          index += 1
        }
      }
    }
    return (values, positions)
  }
}
