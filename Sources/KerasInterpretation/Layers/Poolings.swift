import Interpretation
import TensorCore

/// Window pooling and global pooling.
enum Poolings {
  static let operations: [String: KerasOperations.Operation] = {
    var table: [String: KerasOperations.Operation] = [:]
    for axes in 1...3 {
      for (name, isMaximum) in [("Max", true), ("Average", false)] {
        table["\(name)Pooling\(axes)D"] = { try windows($0, isMaximum) }
        table["Adaptive\(name)Pooling\(axes)D"] = { try adaptive($0, isMaximum) }
        table["Global\(name)Pooling\(axes)D"] = { try global($0, isMaximum) }
      }
    }
    return table
  }()

  private static func windows(_ run: LayerRun, _ isMaximum: Bool) throws -> [KerasValue] {
    let axes = run.axes
    try run.require(rank: axes + 2)
    let kernel = try run.sizes("pool_size", "pool_length", count: axes, default: 2)
    let stride =
      run.field("strides", "stride") == nil
      ? kernel : try run.sizes("strides", "stride", count: axes)
    let padding = run.field("padding", "border_mode")?.string ?? "valid"
    var array = run.planes(run.input)
    // Axes can be averaged one by one because the element count of a window is a product.
    for axis in 0..<axes {
      let (outer, size, inner) = array.split(at: axis + 2)
      let window = try Window(
        run, length: size, kernel: kernel[axis], stride: stride[axis], padding: padding)
      var shape = array.shape
      shape[axis + 2] = window.count
      var result = try DoubleArray(shape: shape)
      for block in 0..<outer {
        for step in 0..<window.count {
          let start = step * stride[axis] - window.before
          let range = max(0, start)..<max(max(0, start), min(size, start + kernel[axis]))
          for column in 0..<inner {
            var value = isMaximum ? -Double.infinity : 0
            for index in range {
              let element = array.values[(block * size + index) * inner + column]
              value = isMaximum ? max(value, element) : value + element / Double(range.count)
            }
            result.values[(block * window.count + step) * inner + column] = value
          }
        }
      }
      array = result
    }
    return [KerasValue(array: run.layout(array))]
  }

  /// One window per output: from ⌊i · size / out⌋ to ⌈(i + 1) · size / out⌉.
  private static func adaptive(_ run: LayerRun, _ isMaximum: Bool) throws -> [KerasValue] {
    try run.require(rank: run.axes + 2)
    let counts = try run.sizes("output_size", count: run.axes)
    var array = run.planes(run.input)
    for (axis, count) in counts.enumerated() {
      let (outer, size, inner) = array.split(at: axis + 2)
      var shape = array.shape
      shape[axis + 2] = count
      var result = try DoubleArray(shape: shape)
      for block in 0..<outer {
        for step in 0..<count {
          let range = step * size / count..<((step + 1) * size + count - 1) / count
          for column in 0..<inner {
            let all = range.map { array.values[(block * size + $0) * inner + column] }
            result.values[(block * count + step) * inner + column] =
              isMaximum ? all.reduce(-.infinity, max) : all.reduce(0, +) / Double(range.count)
          }
        }
      }
      array = result
    }
    return [KerasValue(array: run.layout(array))]
  }

  private static func global(_ run: LayerRun, _ isMaximum: Bool) throws -> [KerasValue] {
    try run.require(rank: run.axes + 2)
    let array = run.planes(run.input)
    let mask = run.axes == 1 && !isMaximum ? run.inputs[0].mask : nil
    let (rows, size) = (array.shape[0] * array.shape[1], array.count(2..<array.rank))
    var values: [Double] = []
    for row in 0..<rows {
      let all = array.values[row * size..<(row + 1) * size]
      if isMaximum {
        values.append(all.reduce(-.infinity, max))
      } else if let mask {
        let item = row / array.shape[1]
        let counts = mask.values[item * size..<(item + 1) * size]
        values.append(zip(all, counts).reduce(0) { $0 + $1.0 * $1.1 } / counts.reduce(0, +))
      } else {
        values.append(all.reduce(0, +) / Double(size))
      }
    }
    var shape = Array(array.shape[0..<2])
    if run.bool("keepdims") {
      shape += [Int](repeating: 1, count: run.axes)
      return [KerasValue(array: run.layout(DoubleArray(shape: shape, values)))]
    }
    return [KerasValue(array: DoubleArray(shape: shape, values))]
  }
}
