import Interpretation
import TensorCore

/// Layers that move or reshape elements.
enum Shapes {
  static let operations: [String: KerasOperations.Operation] = {
    var table: [String: KerasOperations.Operation] = [
      "Flatten": flatten, "Reshape": reshape, "Permute": permute, "RepeatVector": repeated,
    ]
    for axes in 1...3 {
      table["ZeroPadding\(axes)D"] = { try margins($0, "padding", grows: true) }
      table["Cropping\(axes)D"] = { try margins($0, "cropping", grows: false) }
      table["UpSampling\(axes)D"] = upsampling
    }
    return table
  }()

  private static func flatten(_ run: LayerRun) throws -> [KerasValue] {
    // Since Keras 2.2, channels that come first are moved to the end.
    let isFirst = run.fields["data_format"] != nil && run.isChannelsFirst && run.input.rank > 2
    let array =
      isFirst
      ? run.input.transposed([0] + Array(2..<run.input.rank) + [1]) : run.input
    return [
      KerasValue(array: try array.reshaped([array.shape[0], array.count(1..<array.rank)]))
    ]
  }

  private static func reshape(_ run: LayerRun) throws -> [KerasValue] {
    var shape = run.field("target_shape")?.list ?? []
    if let open = shape.firstIndex(of: -1) {
      shape[open] = 1
      let known = try checkedProduct(shape)
      shape[open] = known == 0 ? 0 : run.input.count(1..<run.input.rank) / known
    }
    return [KerasValue(array: try run.input.reshaped([run.input.shape[0]] + shape))]
  }

  private static func permute(_ run: LayerRun) throws -> [KerasValue] {
    let order = run.field("dims")?.list ?? []
    try run.require(order.sorted() == Array(1..<run.input.rank), "its field 'dims'")
    return [KerasValue(array: run.input.transposed([0] + order))]
  }

  private static func repeated(_ run: LayerRun) throws -> [KerasValue] {
    try run.require(rank: 2)
    let step = try run.input.reshaped([run.input.shape[0], 1, run.input.shape[1]])
    let count = try run.sizes("n", count: 1)[0]
    _ = try checkedProduct([run.input.count, count], limit: Limits.tensorElements)
    return [
      KerasValue(
        array: DoubleArray.concatenated([DoubleArray](repeating: step, count: count), axis: 1))
    ]
  }

  /// Crops or pads by a pair of sizes per axis, given as a number, a number per axis or pairs.
  private static func margins(
    _ run: LayerRun, _ field: String, grows: Bool
  ) throws -> [KerasValue] {
    let axes = run.axes
    try run.require(rank: axes + 2)
    let value = run.field(field)
    let elements = value?.array ?? value?["items"]?.array
    var pairs: [[Int]]
    if let elements, axes == 1, elements.count == 2, elements[0].int != nil {
      pairs = [elements.compactMap(\.int)]
    } else if let elements {
      pairs = elements.map { $0.list ?? $0.int.map { [$0, $0] } ?? [] }
      if axes == 2, elements.count == 4 {
        let all = elements.compactMap(\.int)
        pairs = [Array(all.prefix(2)), Array(all.dropFirst(2))]
      }
    } else {
      pairs = [[Int]](repeating: value?.int.map { [$0, $0] } ?? [1, 1], count: axes)
    }
    try run.require(
      pairs.count == axes
        && pairs.allSatisfy { $0.count == 2 && $0.allSatisfy { (0...1 << 20).contains($0) } },
      "its field '\(field)'")
    var array = run.planes(run.input)
    for (axis, pair) in pairs.enumerated() {
      if grows {
        var (before, after) = (array.shape, array.shape)
        (before[axis + 2], after[axis + 2]) = (pair[0], pair[1])
        array = DoubleArray.concatenated(
          [try DoubleArray(shape: before), array, try DoubleArray(shape: after)], axis: axis + 2)
      } else {
        let end = array.shape[axis + 2] - pair[1]
        try run.require(pair[0] <= end, "it crops more than its input")
        array = array.slice(axis + 2, pair[0]..<end)
      }
    }
    return [KerasValue(array: run.layout(array))]
  }

  private static func upsampling(_ run: LayerRun) throws -> [KerasValue] {
    try run.require(rank: run.axes + 2)
    let factors = try run.sizes("size", "length", count: run.axes, default: 2)
    let mode = run.field("interpolation")?.string ?? "nearest"
    try run.require(["nearest", "bilinear"].contains(mode), "the interpolation '\(mode)'")
    var array = run.planes(run.input)
    for (axis, factor) in factors.enumerated() {
      let (outer, size, inner) = array.split(at: axis + 2)
      var shape = array.shape
      shape[axis + 2] = size * factor
      var result = try DoubleArray(shape: shape)
      for block in 0..<outer {
        for step in 0..<size * factor {
          var (low, high, share) = (step / factor, step / factor, 0.0)
          if mode == "bilinear" {
            // TensorFlow 1 aligns the first corners; TensorFlow 2 uses half-pixel centers.
            let shift = run.generation.hasHalfPixelCenters ? 0.5 : 0
            let position = max(0, (Double(step) + shift) / Double(factor) - shift)
            low = min(size - 1, Int(position))
            high = min(size - 1, low + 1)
            share = position - Double(low)
          }
          for column in 0..<inner {
            let a = array.values[(block * size + low) * inner + column]
            let b = array.values[(block * size + high) * inner + column]
            result.values[(block * size * factor + step) * inner + column] = a + (b - a) * share
          }
        }
      }
      array = result
    }
    return [KerasValue(array: run.layout(array))]
  }
}
