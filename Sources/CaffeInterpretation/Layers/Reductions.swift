import Interpretation
import LibC

extension CaffeOperations {
  static let reductions: [String: CaffeOperation] = [
    "Softmax": .one(softmax),
    "Reduction": .one(reduction),
    "ArgMax": .one(argMax),
  ]

  /// softmax_layer.cpp
  private static func softmax(_ layer: LayerRun) throws -> DoubleArray {
    var result = layer.input
    let axis = try layer.axis(layer.settings("softmax_param").int("axis"), of: result)
    let (outer, size, inner) = result.split(at: axis)
    for block in 0..<outer {
      for position in 0..<inner {
        let line = (0..<size).map { (block * size + $0) * inner + position }
        let largest = line.map { result.values[$0] }.max() ?? 0
        var sum = 0.0
        for index in line {
          result.values[index] = exp(result.values[index] - largest)
          sum += result.values[index]
        }
        for index in line { result.values[index] /= sum }
      }
    }
    return result
  }

  /// reduction_layer.cpp: over the axes from `axis` on.
  private static func reduction(_ layer: LayerRun) throws -> DoubleArray {
    let settings = layer.settings("reduction_param")
    let input = layer.input
    let axis = try layer.axis(settings.int("axis"), of: input)
    let factor = try settings.number("coeff")
    let length = input.count(axis..<input.rank)
    let operation = try settings.symbol("operation")
    let values = try (0..<input.count(0..<axis)).map { block in
      let part = input.values[block * length..<(block + 1) * length]
      switch operation {
      case "SUM": return factor * part.reduce(0, +)
      case "ASUM": return factor * part.reduce(0) { $0 + abs($1) }
      case "SUMSQ": return factor * part.reduce(0) { $0 + $1 * $1 }
      case "MEAN": return factor * part.reduce(0, +) / Double(length)
      default: throw layer.missing("operation is \(operation)")
      }
    }
    return DoubleArray(shape: Array(input.shape[..<axis]), values)
  }

  /// argmax_layer.cpp: pairs of value and index in descending order, so the last of equal values
  /// comes first.
  private static func argMax(_ layer: LayerRun) throws -> DoubleArray {
    let settings = layer.settings("argmax_param")
    let input = layer.input
    let count = try settings.size("top_k")
    let returnsValues = try settings.bool("out_max_val")
    try layer.require(input.rank >= 1, "its bottom is a number")
    let hasAxis = settings.has("axis")
    let axis = hasAxis ? try layer.axis(settings.int("axis"), of: input) : 1
    let (outer, size, inner) =
      hasAxis ? input.split(at: axis) : (input.shape[0], input.count(1..<input.rank), 1)
    try layer.require(count <= size, "top_k is \(count) of \(size)")
    var shape = [Int](repeating: 1, count: max(3, input.rank))
    if hasAxis {
      shape = input.shape
      shape[axis] = count
    } else {
      shape[0] = outer
      shape[2] = count
      if returnsValues { shape[1] = 2 }
    }
    var result = try DoubleArray(shape: shape)
    for block in 0..<outer {
      for position in 0..<inner {
        let line = (0..<size).map { input.values[(block * size + $0) * inner + position] }
        let best = line.indices.sorted { (line[$0], $0) > (line[$1], $1) }.prefix(count)
        for (rank, index) in best.enumerated() {
          if hasAxis {
            result.values[(block * count + rank) * inner + position] =
              returnsValues ? line[index] : Double(index)
          } else if returnsValues {
            result.values[2 * block * count + rank] = Double(index)
            result.values[(2 * block + 1) * count + rank] = line[index]
          } else {
            result.values[block * count + rank] = Double(index)
          }
        }
      }
    }
    return result
  }
}
