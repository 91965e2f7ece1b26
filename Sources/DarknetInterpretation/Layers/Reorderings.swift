import Interpretation
import TensorCore

extension DarknetOperations {
  static let reorderings: [String: DarknetOperation] = [
    "reorg": reorg, "reorg_old": reorg,
    "reorg3d": { maker, _ in
      // Bochkovskiy's reorg_layer.c passes the result's shape to reorg_cpu.
      let stride = try maker.size("stride", 1)
      let isReversed = try maker.section.bool("reverse")
      let shape = try reorganized(maker, stride, isReversed)
      try maker.require(shape[0] % (stride * stride) == 0, "a stride of \(stride)")
      return try maker.made(shape) { call in
        DoubleArray(shape: shape, moved(call.input.values, shape, stride, isForward: isReversed))
      }
    },
    "crop": { maker, _ in
      // crop_layer.c outside of training: the center, scaled to 2x − 1.
      let size = [try maker.size("crop_height", 1), try maker.size("crop_width", 1)]
      let isAdjusted = try !maker.section.bool("noadjust")
      let (rows, columns) = (maker.input[1], maker.input[2])
      try maker.require(size[0] <= rows && size[1] <= columns, "a crop of \(size)")
      let (top, left) = ((rows - size[0]) / 2, (columns - size[1]) / 2)
      return try maker.made([maker.input[0]] + size) { call in
        let part = call.input.slice(1, top..<top + size[0]).slice(2, left..<left + size[1])
        return isAdjusted ? part.map { 2 * $0 - 1 } : part
      }
    },
  ]

  /// The shape after the reorganization.
  private static func reorganized(
    _ maker: SectionMaker, _ stride: Int, _ isReversed: Bool
  ) throws -> [Int] {
    let (c, h, w) = (maker.input[0], maker.input[1], maker.input[2])
    try maker.require(
      stride <= 1 << 14 && (isReversed || (h % stride == 0 && w % stride == 0)),
      "a stride of \(stride) of \(maker.input)")
    let area = stride * stride
    try maker.require(!isReversed || c % area == 0, "a stride of \(stride) of \(maker.input)")
    return isReversed ? [c / area, h * stride, w * stride] : [c * area, h / stride, w / stride]
  }

  /// blas.c, reorg_cpu, with its loops over `[c, h, w]`.
  private static func moved(
    _ values: [Double], _ shape: [Int], _ stride: Int, isForward: Bool
  ) -> [Double] {
    let (c, h, w) = (shape[0], shape[1], shape[2])
    let few = c / (stride * stride)
    var result = [Double](repeating: 0, count: values.count)
    for k in 0..<c {
      for j in 0..<h {
        for i in 0..<w {
          let near = i + w * (j + h * k)
          let offset = k / few
          let column = i * stride + offset % stride
          let row = j * stride + offset / stride
          let far = column + w * stride * (row + h * stride * (k % few))
          if isForward { result[far] = values[near] } else { result[near] = values[far] }
        }
      }
    }
    return result
  }

  /// Redmon's reorg_layer.c, which passes the input's shape to reorg_cpu.
  private static let reorg: DarknetOperation = { maker, _ in
    let stride = try maker.size("stride", 1)
    let isReversed = try maker.section.bool("reverse")
    let extra = try maker.int("extra", 0)
    if extra > 0 {
      // The rest of the result stays zero.
      let count = maker.count + extra
      return try maker.made([count, 1, 1]) { call in
        DoubleArray(shape: [count, 1, 1], call.input.values + [Double](repeating: 0, count: extra))
      }
    }
    let shape = try reorganized(maker, stride, isReversed)
    if try maker.section.bool("flatten") {
      let (channels, area) = (maker.input[0], maker.input[1] * maker.input[2])
      let rows = isReversed ? [area, channels] : [channels, area]
      return try maker.made(shape) { call in
        try call.input.reshaped(rows).transposed([1, 0]).reshaped(shape)
      }
    }
    try maker.require(
      maker.input[0] % (stride * stride) == 0, "a stride of \(stride) of \(maker.input)")
    return try maker.made(shape) { call in
      DoubleArray(
        shape: shape, moved(call.input.values, maker.input, stride, isForward: isReversed))
    }
  }
}
