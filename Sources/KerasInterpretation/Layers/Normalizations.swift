import ByteFormats
import Interpretation
import TensorCore

/// Layers that normalize by their input's statistics, or by stored ones.
enum Normalizations {
  static let operations: [String: KerasOperations.Operation] = [
    "LayerNormalization": layer, "RMSNormalization": rootMeanSquare, "GroupNormalization": group,
    "UnitNormalization": { try Elements.same($0, unit($0, try axes($0))) },
    "L2Normalization": { run in
      let unit = try unit(run, [run.input.rank - 1])
      return try Elements.same(run, scaled(unit, run.weight(0), [run.input.rank - 1], *))
    },
    "Scale": { run in
      let axis = try (run.input.axis(run.field("axis")?.int ?? -1)).orThrow(run.missing("its axis"))
      let product = try scaled(run.input, run.weight(0), [axis], *)
      return try Elements.same(run, scaled(product, run.weight(1), [axis], +))
    },
    "Normalization": fixed, "Rescaling": rescaling,
  ]

  /// The axes in the field `axis`, or the last axis if it is missing.
  private static func axes(_ run: LayerRun) throws -> [Int] {
    let given = run.field("axis")?.list ?? [run.field("axis")?.int ?? -1]
    let axes = given.compactMap(run.input.axis)
    try run.require(axes.count == given.count && !axes.isEmpty, "its axis")
    return axes.sorted()
  }

  /// Means over some axes, which keep length 1.
  static func mean(_ array: DoubleArray, _ axes: [Int]) -> DoubleArray {
    var result = array
    for axis in axes {
      let (outer, size, inner) = result.split(at: axis)
      var shape = result.shape
      shape[axis] = 1
      var sums = [Double](repeating: 0, count: outer * inner)
      for (index, value) in result.values.enumerated() {
        sums[index / (size * inner) * inner + index % inner] += value
      }
      result = DoubleArray(shape: shape, sums.map { $0 / Double(size) })
    }
    return result
  }

  static func variance(_ array: DoubleArray, _ axes: [Int]) throws -> DoubleArray {
    try mean(Merges.broadcast(array, mean(array, axes), -).map { $0 * $0 }, axes)
  }

  /// Combines an array with weights along some of its axes.
  private static func scaled(
    _ array: DoubleArray, _ weights: DoubleArray, _ axes: [Int],
    _ function: (Double, Double) -> Double
  ) throws -> DoubleArray {
    let shape = array.shape.indices.map { axes.contains($0) ? array.shape[$0] : 1 }
    return try Merges.broadcast(array, weights.reshaped(shape), function)
  }

  /// (x − μ) / √(σ² + ε) · γ + β, with statistics over the axes; without μ and β if `rms_scaling`.
  private static func layer(_ run: LayerRun) throws -> [KerasValue] {
    let axes = try axes(run)
    let epsilon = run.double("epsilon", default: 1e-3)
    let isScaleOnly = run.bool("rms_scaling")
    let factor = try variance(run.input, axes).map { 1 / ($0 + epsilon).squareRoot() }
    var result = run.input
    if !isScaleOnly { result = try Merges.broadcast(result, mean(result, axes), -) }
    result = try Merges.broadcast(result, factor, *)
    var next = 0
    if isScaleOnly || run.bool("scale", default: true) {
      result = try scaled(result, run.weight(next), axes, *)
      next += 1
    }
    if !isScaleOnly && run.bool("center", default: true) {
      result = try scaled(result, run.weight(next), axes, +)
    }
    return Elements.same(run, result)
  }

  /// x / √(mean x² + ε) · γ; γ is broadcast, so it applies along the last axes.
  private static func rootMeanSquare(_ run: LayerRun) throws -> [KerasValue] {
    let axes = try axes(run)
    let epsilon = run.double("epsilon", default: 1e-6)
    let factor = mean(run.input.map { $0 * $0 }, axes).map { 1 / ($0 + epsilon).squareRoot() }
    let result = try Merges.broadcast(run.input, factor, *)
    let last = Array(run.input.rank - axes.count..<run.input.rank)
    // Unlike the other layers, it does not support masks.
    return [KerasValue(array: try scaled(result, run.weight(0), last, *))]
  }

  /// Splits the axis into consecutive groups; each is normalized together with all other axes.
  private static func group(_ run: LayerRun) throws -> [KerasValue] {
    try run.require(
      run.generation.hasHalfPixelCenters, "the class of keras-contrib is not interpreted")
    let axis = try axes(run)[0]
    let size = run.input.shape[axis]
    let given = run.field("groups")?.int ?? 32
    let groups = given == -1 ? size : given
    try run.require(axis > 0 && groups > 0 && size % groups == 0, "its field 'groups'")
    var shape = run.input.shape
    shape.replaceSubrange(axis...axis, with: [groups, size / groups])
    var result = try run.input.reshaped(shape)
    let axes = shape.indices.filter { $0 != 0 && $0 != axis }
    let epsilon = run.double("epsilon", default: 1e-3)
    let factor = try variance(result, axes).map { 1 / ($0 + epsilon).squareRoot() }
    result = try Merges.broadcast(result, mean(result, axes), -)
    result = try Merges.broadcast(result, factor, *).reshaped(run.input.shape)
    var next = 0
    if run.bool("scale", default: true) {
      result = try scaled(result, run.weight(next), [axis], *)
      next += 1
    }
    if run.bool("center", default: true) {
      result = try scaled(result, run.weight(next), [axis], +)
    }
    return Elements.same(run, result)
  }

  /// x / √(max(Σ x², 1e-12))
  private static func unit(_ run: LayerRun, _ axes: [Int]) throws -> DoubleArray {
    let count = Double(axes.reduce(1) { $0 * run.input.shape[$1] })
    let factor = mean(run.input.map { $0 * $0 }, axes).map {
      1 / max($0 * count, 1e-12).squareRoot()
    }
    return try Merges.broadcast(run.input, factor, *)
  }

  /// (x − mean) / max(√variance, 1e-7), or the inverse.
  private static func fixed(_ run: LayerRun) throws -> [KerasValue] {
    func numbers(_ name: String, _ index: Int) throws -> DoubleArray {
      if run.weights.count > index { return run.weights[index] }
      guard let value = run.field(name) else { throw run.missing("it has no field '\(name)'") }
      func flat(_ value: JSONValue) -> [Double] {
        value.array?.flatMap(flat) ?? value.double.map { [$0] } ?? []
      }
      let values = flat(value)
      return DoubleArray(shape: [values.count], values)
    }
    let mean = try numbers("mean", 0)
    let deviation = try numbers("variance", 1).map { max($0.squareRoot(), 1e-7) }
    let axes = mean.count == 1 ? [] : try axes(run)
    if run.bool("invert") {
      return try Elements.same(run, scaled(scaled(run.input, deviation, axes, *), mean, axes, +))
    }
    return try Elements.same(run, scaled(scaled(run.input, mean, axes, -), deviation, axes, /))
  }

  /// x · scale + offset, where each is a number or has one value per channel.
  private static func rescaling(_ run: LayerRun) throws -> [KerasValue] {
    var result = run.input
    for (name, standard, function) in [
      ("scale", 1.0, { $0 * $1 } as (Double, Double) -> Double), ("offset", 0, { $0 + $1 }),
    ] {
      let values =
        run.field(name)?.array?.compactMap(\.double) ?? [run.double(name, default: standard)]
      try run.require(values.count == 1 || values.count == result.shape.last, "its field '\(name)'")
      for index in result.values.indices {
        result.values[index] = function(result.values[index], values[index % values.count])
      }
    }
    return Elements.same(run, result)
  }
}
