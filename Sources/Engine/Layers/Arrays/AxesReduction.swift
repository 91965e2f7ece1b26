import CoreMLModel
import Kernels
import LibC
import TensorCore

enum AxesReduction: Sendable {
  case sum, mean, product, maximum, minimum, magnitudes, length, squares, logSum, logSumExp
}

extension LayerLowering {
  /// A reduction over the layer's axes.
  fileprivate mutating func reduce(
    _ function: AxesReduction, _ parameters: some AxesReductionLayer
  ) throws -> [Graph.ValueID] {
    let shape = inputShapes[0]
    let axes = try parameters.reducedAxes(rank: shape.rank)
    let result = try outputShape()
    if function == .mean, (3...5).contains(shape.rank), shape.area > 1,
      axes.sorted() == [shape.rank - 2, shape.rank - 1]
    {
      // Rows and columns can be reduced with any layout.
      let means = try Shape(shape.dimensions.dropLast(2) + [1, 1])
      return [try view(add(PoolingOperation(.average, ofWhole: shape), inputs, means), result)]
    }
    let kept = (0..<shape.rank).filter { !axes.contains($0) }
    // Adjacent reduced axes, ignoring axes of length 1, are merged; others are moved to the end.
    let long = axes.filter { shape.dimensions[$0] > 1 }
    let between = kept.filter { axis in
      shape.dimensions[axis] > 1 && long.contains { $0 < axis } && long.contains { $0 > axis }
    }
    var input = inputs[0]
    var inner = 1
    if between.isEmpty {
      inner = kept.filter { axis in long.contains { $0 < axis } }
        .reduce(1) { $0 * shape.dimensions[$1] }
    } else {
      input = try transposed(input, kept + axes)
    }
    let length = axes.reduce(1) { $0 * shape.dimensions[$1] }
    let outer = shape.count / length / inner
    let row = inner
    let operation =
      inner == 1
      ? ArrayOperation(kind: "reduce \(function)", units: outer) { buffers, unit in
        buffers.output[unit] = function.value(
          buffers.input + unit * length, length, buffers.kernels)
      }
      : ArrayOperation(kind: "reduce \(function)", units: outer * ((row + 63) / 64)) {
        buffers, unit in
        let strips = (row + 63) / 64
        let start = unit % strips * 64
        function.columns(
          buffers.input + unit / strips * length * row + start, rows: length, step: row,
          count: min(64, row - start), buffers.output + unit / strips * row + start)
      }
    return [add(operation, [input], result)]
  }
}

extension AxesReduction {
  /// The reduction of a contiguous vector.
  func value(
    _ input: UnsafePointer<Float>, _ count: Int, _ kernels: any KernelTable.Type
  ) -> Float {
    func whole(_ function: Reduction) -> Float {
      kernels.reduce(function, input, count: count)
    }
    switch self {
    case .sum: return Float(kernels.sum(.sum, input, count))
    case .mean: return Float(kernels.sum(.sum, input, count) / Double(count))
    case .product: return whole(.product)
    case .maximum: return whole(.maximum)
    case .minimum: return whole(.minimum)
    case .magnitudes: return Float(kernels.sum(.sumOfMagnitudes, input, count))
    case .squares: return Float(kernels.sum(.sumOfSquares, input, count))
    case .length: return Float(kernels.sum(.sumOfSquares, input, count).squareRoot())
    case .logSum: return Float(log(kernels.sum(.sum, input, count)))
    case .logSumExp:
      let largest = whole(.maximum)
      guard largest.isFinite else { return largest }
      var total = 0.0
      for index in 0..<count { total += Double(expf(input[index] - largest)) }
      return Float(log(total)) + largest
    }
  }

  /// The reductions of at most 64 adjacent columns.
  fileprivate func columns(
    _ input: UnsafePointer<Float>, rows: Int, step: Int, count: Int,
    _ output: UnsafeMutablePointer<Float>
  ) {
    withUnsafeTemporaryAllocation(of: Double.self, capacity: count) { sums in
      @inline(__always) func fold(_ start: Double, _ next: (Double, Double) -> Double) {
        for column in 0..<count { sums[column] = start }
        var row = input
        for _ in 0..<rows {
          for column in 0..<count { sums[column] = next(sums[column], Double(row[column])) }
          row += step
        }
      }
      switch self {
      case .sum, .logSum, .mean: fold(0) { $0 + $1 }
      case .product: fold(1) { $0 * $1 }
      case .magnitudes: fold(0) { $0 + $1.magnitude }
      case .squares, .length: fold(0) { $0 + $1 * $1 }
      case .maximum, .logSumExp: fold(-.infinity) { $0 > $1 || $0.isNaN ? $0 : $1 }
      case .minimum: fold(.infinity) { $0 < $1 || $0.isNaN ? $0 : $1 }
      }
      for column in 0..<count {
        switch self {
        case .mean: output[column] = Float(sums[column] / Double(rows))
        case .length: output[column] = Float(sums[column].squareRoot())
        case .logSum: output[column] = Float(log(sums[column]))
        case .logSumExp:
          let largest = sums[column]
          guard largest.isFinite else {
            output[column] = Float(largest)
            continue
          }
          var total = 0.0
          for row in 0..<rows { total += exp(Double(input[row * step + column]) - largest) }
          output[column] = Float(log(total) + largest)
        default: output[column] = Float(sums[column])
        }
      }
    }
  }
}

/// A layer that reduces the axes that it lists.
protocol ReducingLayer: EngineLayer, AxesReductionLayer {
  static var reduction: AxesReduction { get }
}

extension ReducingLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.reduce(Self.reduction, self)
  }
}

extension ReduceL1: ReducingLayer { static let reduction = AxesReduction.magnitudes }
extension ReduceL2: ReducingLayer { static let reduction = AxesReduction.length }
extension ReduceMax: ReducingLayer { static let reduction = AxesReduction.maximum }
extension ReduceMin: ReducingLayer { static let reduction = AxesReduction.minimum }
extension ReduceSum: ReducingLayer { static let reduction = AxesReduction.sum }
extension ReduceProd: ReducingLayer { static let reduction = AxesReduction.product }
extension ReduceMean: ReducingLayer { static let reduction = AxesReduction.mean }
extension ReduceLogSum: ReducingLayer { static let reduction = AxesReduction.logSum }
extension ReduceSumSquare: ReducingLayer { static let reduction = AxesReduction.squares }
extension ReduceLogSumExp: ReducingLayer { static let reduction = AxesReduction.logSumExp }
