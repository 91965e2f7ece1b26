import Interpretation
import TensorCore

/// Layers with several inputs.
enum Merges {
  static let operations: [String: KerasOperations.Operation] = {
    var table: [String: KerasOperations.Operation] = [
      "Concatenate": { run in
        [KerasValue(array: try concatenated(run, "axis"), mask: try concatenatedMask(run))]
      },
      "Dot": dot, "Merge": merge,
    ]
    for name in ["Add", "Multiply", "Subtract", "Average", "Maximum", "Minimum"] {
      table[name] = { [KerasValue(array: try combined($0, name), mask: try mergedMask($0))] }
    }
    return table
  }()

  /// A step is valid if it is valid in every input that has a mask. In Keras 3, every input must
  /// have a mask, and a step is valid if it is valid in any input.
  private static func mergedMask(_ run: LayerRun) throws -> DoubleArray? {
    let masks = run.inputs.compactMap(\.mask)
    guard let first = masks.first else { return nil }
    let isKeras3 = run.generation.major >= 3
    if isKeras3 && masks.count < run.inputs.count { return nil }
    return try masks.dropFirst().reduce(first) { try broadcast($0, $1, isKeras3 ? max : min) }
  }

  /// Concatenates the masks along the steps; along any other axis, a step is valid if it is valid
  /// in all inputs.
  private static func concatenatedMask(_ run: LayerRun) throws -> DoubleArray? {
    let masks = run.inputs.compactMap(\.mask)
    guard let first = masks.first else { return nil }
    let axis = run.input.axis(run.field("axis")?.int ?? -1)
    if axis == run.input.rank - 1 {
      return try masks.dropFirst().reduce(first) { try broadcast($0, $1, min) }
    }
    try run.require(axis == 1 && masks.count == run.inputs.count, "masks of some inputs only")
    return DoubleArray.concatenated(masks, axis: 1)
  }

  /// Keras 1's Merge, a single class with modes.
  private static func merge(_ run: LayerRun) throws -> [KerasValue] {
    let modes = ["sum": "Add", "mul": "Multiply", "ave": "Average", "max": "Maximum"]
    let mode = run.field("mode")?.string ?? ""
    if mode == "concat" { return [KerasValue(array: try concatenated(run, "concat_axis"))] }
    if mode == "dot" { return try dot(run) }
    if mode == "cos" {
      // Keras 1 inserts an axis of length 1 after the batch.
      return try dot(run).map {
        KerasValue(
          array: try $0.array.reshaped([$0.array.shape[0], 1] + $0.array.shape.dropFirst()))
      }
    }
    guard let name = modes[mode] else { throw run.missing("mode '\(mode)' is not supported") }
    return [KerasValue(array: try combined(run, name))]
  }

  private static func combined(_ run: LayerRun, _ name: String) throws -> DoubleArray {
    let function: (Double, Double) -> Double =
      switch name {
      case "Multiply": { $0 * $1 }
      case "Subtract": { $0 - $1 }
      case "Maximum": { max($0, $1) }
      case "Minimum": { min($0, $1) }
      default: { $0 + $1 }
      }
    if run.generation.combinesMasked, ["Multiply", "Maximum", "Minimum"].contains(run.className),
      run.inputs.contains(where: { $0.mask != nil })
    {
      return try masked(run, function)
    }
    var result = run.input
    for other in run.inputs.dropFirst() {
      // Keras inserts axes of length 1 after the batch of the operand with the smaller rank.
      let rank = max(result.rank, other.array.rank)
      result = try broadcast(grown(result, rank), grown(other.array, rank), function)
    }
    let count = Double(run.inputs.count)
    return name == "Average" ? result.map { $0 / count } : result
  }

  /// A product, maximum or minimum since Keras 3.4 (keras/src/layers/merging/multiply.py and
  /// base_merge.py): masked steps are 1 in a product, otherwise they have the other operand's value.
  private static func masked(
    _ run: LayerRun, _ function: (Double, Double) -> Double
  ) throws -> DoubleArray {
    try run.require(run.inputs.allSatisfy { $0.array.rank == 3 }, "masks of other ranks")
    func chosen(
      _ valid: DoubleArray, _ a: DoubleArray, _ b: DoubleArray
    ) throws -> DoubleArray {
      try broadcast(broadcast(a, valid, *), broadcast(b, valid) { $0 * (1 - $1) }, +)
    }
    let masks = try run.inputs.map { try $0.mask.map { try $0.reshaped($0.shape + [1]) } }
    let isProduct = run.className == "Multiply"
    let one = DoubleArray(shape: [1, 1, 1], [1])
    var result = isProduct ? one : run.input
    var valid = masks[0]
    for (index, input) in run.inputs.enumerated() where isProduct || index > 0 {
      var x = input.array
      if let mask = masks[index] { x = try chosen(mask, x, isProduct ? one : result) }
      if !isProduct, let valid { result = try chosen(valid, result, x) }
      valid = try valid.flatMap { valid in try masks[index].map { try broadcast(valid, $0, max) } }
      result = try broadcast(result, x, function)
    }
    return try isProduct ? valid.map { try broadcast(result, $0, *) } ?? result : result
  }

  private static func grown(_ array: DoubleArray, _ rank: Int) throws -> DoubleArray {
    guard array.rank < rank, array.rank > 0 else { return array }
    var shape = array.shape
    shape.insert(contentsOf: [Int](repeating: 1, count: rank - array.rank), at: 1)
    return try array.reshaped(shape)
  }

  /// Applies a function to two arrays with the same rank; axes of length 1 are broadcast.
  static func broadcast(
    _ a: DoubleArray, _ b: DoubleArray, _ function: (Double, Double) -> Double
  ) throws -> DoubleArray {
    guard a.rank == b.rank, zip(a.shape, b.shape).allSatisfy({ $0 == $1 || $0 == 1 || $1 == 1 })
    else { throw ModelError(.mismatch, "the shapes \(a.shape) and \(b.shape)") }
    let shape = zip(a.shape, b.shape).map { $0 == 1 ? $1 : $0 }
    var result = try DoubleArray(shape: shape)
    let steps = zip(a.shape, a.strides).map { $0 == 1 ? 0 : $1 }
    let others = zip(b.shape, b.strides).map { $0 == 1 ? 0 : $1 }
    var index = [Int](repeating: 0, count: shape.count)
    var (first, second) = (0, 0)
    for position in 0..<result.count {
      result.values[position] = function(a.values[first], b.values[second])
      for axis in shape.indices.reversed() {
        index[axis] += 1
        first += steps[axis]
        second += others[axis]
        if index[axis] < shape[axis] { break }
        first -= steps[axis] * shape[axis]
        second -= others[axis] * shape[axis]
        index[axis] = 0
      }
    }
    return result
  }

  private static func concatenated(_ run: LayerRun, _ field: String) throws -> DoubleArray {
    let axis = try (run.input.axis(run.field(field)?.int ?? -1)).orThrow(run.missing("its axis"))
    let arrays = run.inputs.map(\.array)
    func others(_ shape: [Int]) -> [Int] { shape.indices.filter { $0 != axis }.map { shape[$0] } }
    try run.require(
      arrays.allSatisfy { $0.rank > axis && others($0.shape) == others(run.input.shape) },
      "inputs of the shapes \(arrays.map(\.shape))")
    return DoubleArray.concatenated(arrays, axis: axis)
  }

  /// Σ over one axis of each input, batch by batch; the first input's remaining axes come first.
  private static func dot(_ run: LayerRun) throws -> [KerasValue] {
    try run.require(run.inputs.count == 2, "\(run.inputs.count) inputs")
    let field = run.field("axes", "dot_axes")
    let given = field?.list ?? field?.int.map { [$0, $0] } ?? [-1, -1]
    var arrays = run.inputs.map(\.array)
    guard given.count == 2, let a = arrays[0].axis(given[0]), let b = arrays[1].axis(given[1]),
      a > 0, b > 0, arrays[0].shape[a] == arrays[1].shape[b],
      arrays[0].shape[0] == arrays[1].shape[0]
    else { throw run.missing("its axes \(given)") }
    let length = arrays[0].shape[a]
    var shape = [arrays[0].shape[0]]
    var widths: [Int] = []
    for (position, axis) in [a, b].enumerated() {
      let array = arrays[position]
      let others = Array(1..<array.rank).filter { $0 != axis }
      arrays[position] = array.transposed([0] + others + [axis])
      shape += others.map { array.shape[$0] }
      widths.append(others.reduce(1) { $0 * array.shape[$1] })
      if run.bool("normalize") || run.field("mode")?.string == "cos" {
        arrays[position] = normalized(arrays[position], length)
      }
    }
    if shape.count == 1 { shape.append(1) }
    var result = try DoubleArray(shape: shape)
    for item in 0..<shape[0] {
      for row in 0..<widths[0] {
        for column in 0..<widths[1] {
          var sum = 0.0
          for index in 0..<length {
            sum +=
              arrays[0].values[(item * widths[0] + row) * length + index]
              * arrays[1].values[(item * widths[1] + column) * length + index]
          }
          result.values[(item * widths[0] + row) * widths[1] + column] = sum
        }
      }
    }
    return [KerasValue(array: result)]
  }

  private static func normalized(_ array: DoubleArray, _ length: Int) -> DoubleArray {
    var result = array
    for row in 0..<array.count / max(1, length) {
      let range = row * length..<(row + 1) * length
      let sum = array.values[range].reduce(0) { $0 + $1 * $1 }
      for index in range { result.values[index] /= max(sum, 1e-12).squareRoot() }
    }
    return result
  }
}
