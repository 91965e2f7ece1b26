import Interpretation
import TensorCore

extension DarknetOperations {
  static let poolings: [String: DarknetOperation] = [
    "maxpool": maxpool, "max": maxpool,
    "local_avgpool": { maker, _ in try PoolingWindows(maker).section(maker, isMaximum: false) },
    "local_avg": { maker, _ in try PoolingWindows(maker).section(maker, isMaximum: false) },
    "avgpool": avgpool, "avg": avgpool,
    "upsample": upsample,
  ]

  /// avgpool_layer.c
  private static let avgpool: DarknetOperation = { maker, _ in
    let (channels, area) = (maker.input[0], maker.input[1] * maker.input[2])
    return try maker.made([channels, 1, 1]) { call in
      var result = try DoubleArray(shape: [channels, 1, 1])
      for index in 0..<channels * area {
        result.values[index / area] += call.input.values[index] / Double(area)
      }
      return result
    }
  }

  /// maxpool_layer.c
  private static let maxpool: DarknetOperation = { maker, _ in
    for key in ["antialiasing", "maxpool_zero_nonmax"] where try maker.section.bool(key) {
      throw ModelError(.unsupported, "\(key) is not interpreted")
    }
    guard try maker.section.bool("maxpool_depth") else {
      return try PoolingWindows(maker).section(maker, isMaximum: true)
    }
    // Channel g is the maximum of channels g, g + outputs, g + 2 · outputs, …
    let outputs = try maker.size("out_channels", 1)
    let (channels, area) = (maker.input[0], maker.input[1] * maker.input[2])
    try maker.require(outputs <= channels, "out_channels is \(outputs)")
    return try maker.made([outputs, maker.input[1], maker.input[2]]) { call in
      var result = try DoubleArray(shape: [outputs] + call.input.shape[1...], repeating: -.infinity)
      for index in 0..<channels * area {
        let position = index / area % outputs * area + index % area
        result.values[position] = max(result.values[position], call.input.values[index])
      }
      return result
    }
  }

  /// upsample_layer.c: repeats every value; with a negative stride, sums blocks.
  private static let upsample: DarknetOperation = { maker, _ in
    let stride = try maker.int("stride", 2)
    let scale = try maker.number("scale", 1)
    let step = abs(stride)
    let (channels, rows, columns) = (maker.input[0], maker.input[1], maker.input[2])
    try maker.require(
      stride > 0 || (step > 0 && rows % step == 0 && columns % step == 0), "stride is \(stride)")
    let shape =
      stride > 0
      ? [channels, rows * step, columns * step] : [channels, rows / step, columns / step]
    return try maker.made(shape) { call in
      var result = try DoubleArray(shape: shape)
      let (large, small) = stride > 0 ? (shape, maker.input) : (maker.input, shape)
      for index in 0..<large.reduce(1, *) {
        let (x, y) = (index % large[2], index / large[2] % large[1])
        let position =
          (index / (large[1] * large[2]) * small[1] + y / step) * small[2] + x / step
        if stride > 0 {
          result.values[index] = scale * call.input.values[position]
        } else {
          result.values[position] += scale * call.input.values[index]
        }
      }
      return result
    }
  }
}

/// The windows of maxpool_layer.c and local_avgpool: `padding` is the sum of both sides, by default
/// size − 1; half of it comes before the image.
private struct PoolingWindows {
  let size: Int
  let strides: [Int]
  let padding: Int

  init(_ maker: SectionMaker) throws {
    let stride = try maker.size("stride", 1)
    strides = [try maker.size("stride_y", stride), try maker.size("stride_x", stride)]
    size = try maker.size("size", stride)
    padding = try maker.int("padding", size - 1)
    try maker.require(padding >= 0, "padding is \(padding)")
  }

  func section(_ maker: SectionMaker, isMaximum: Bool) throws -> DarknetSection {
    let extents = Array(maker.input[1...])
    let out = (0..<2).map { axis in
      let room = extents[axis] + padding - size
      return room < 0 ? 0 : room / strides[axis] + 1
    }
    try maker.require(out.allSatisfy { $0 > 0 }, "windows of \(size) in \(maker.input)")
    let front = padding / 2
    return try maker.made([maker.input[0]] + out) { call in
      var result = try DoubleArray(shape: [maker.input[0]] + out)
      for index in result.values.indices {
        let (top, left) = (
          index / out[1] % out[0] * strides[0] - front, index % out[1] * strides[1] - front
        )
        let plane = index / (out[0] * out[1]) * extents[0]
        // The result is -FLT_MAX if the window is entirely outside the image.
        var best = -Double(Float.greatestFiniteMagnitude)
        var (sum, count) = (0.0, 0)
        for y in max(top, 0)..<max(max(top, 0), min(top + size, extents[0])) {
          for x in max(left, 0)..<max(max(left, 0), min(left + size, extents[1])) {
            let value = call.input.values[(plane + y) * extents[1] + x]
            best = max(best, value)
            sum += value
            count += 1
          }
        }
        result.values[index] = isMaximum ? best : sum / Double(count)
      }
      return result
    }
  }
}
