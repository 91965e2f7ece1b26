import CoreMLModel
import Kernels
import LibC
import TensorCore

/// A reduction of row-major items over some of C, H and W.
struct ReduceOperation: Operation {
  var mode: Reduce.Operation
  var axis: Reduce.Axis
  var epsilon: Float

  var kind: String { "reduce \(mode)" }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutWishes { shapes.allDense() }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let input = context.inputs[0]
    let output = context.outputs[0]
    let shape = input.layout.shape
    // The reduced elements are `length`, `step` apart; outputs are `inner` for each of the rest.
    let (length, step): (Int, Int) =
      switch axis {
      case .chw: (shape.itemCount, 1)
      case .hw: (shape.area, 1)
      case .c: (shape.channels, shape.area)
      case .h: (shape.height, shape.width)
      case .w: (shape.width, 1)
      }
    let reducer = VectorReducer(mode: mode, epsilon: Double(epsilon), kernels: context.kernels)
    let count = shape.count / length
    guard count == output.layout.shape.count else {
      throw context.error("the output's shape \(output.layout.shape.dimensions) does not fit")
    }
    return { run in
      let source = UnsafePointer(run.pointer(input))
      let target = run.pointer(output)
      run.pool.forEach(count) { index in
        let start = source + index / step * step * length + index % step
        target[index] = reducer.reduce(start, length, step)
      }
    }
  }
}

private struct VectorReducer: Sendable {
  var mode: Reduce.Operation
  var epsilon: Double
  var kernels: any KernelTable.Type

  func reduce(_ values: UnsafePointer<Float>, _ count: Int, _ step: Int) -> Float {
    if step != 1 {
      return withUnsafeTemporaryAllocation(of: Float.self, capacity: count) { copy in
        for index in 0..<count { copy[index] = values[index &* step] }
        return copy.baseAddress.map { reduce($0, count, 1) } ?? 0
      }
    }
    switch mode {
    case .sum: return Float(kernels.sum(.sum, values, count))
    case .avg: return Float(kernels.sum(.sum, values, count) / Double(count))
    case .prod: return whole(.product, values, count)
    case .logsum:
      var total = 0.0
      for index in 0..<count { total += log(Double(values[index]) + epsilon) }
      return Float(total)
    case .sumsquare: return Float(kernels.sum(.sumOfSquares, values, count))
    case .l1: return Float(kernels.sum(.sumOfMagnitudes, values, count))
    case .l2: return Float(kernels.sum(.sumOfSquares, values, count).squareRoot())
    case .max: return whole(.maximum, values, count)
    case .min: return whole(.minimum, values, count)
    case .argmax:
      var best = 0
      for index in 0..<count where values[index] > values[best] { best = index }
      return Float(best)
    }
  }

  private func whole(_ function: Reduction, _ values: UnsafePointer<Float>, _ count: Int) -> Float {
    kernels.reduce(function, values, count: count)
  }
}

extension Reduce: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.require(
      mode != .argmax || (axis != .chw && axis != .hw), "axis", "argmax takes one axis")
    let operation = ReduceOperation(
      mode: mode, axis: axis, epsilon: effectiveEpsilon)
    return [layer.add(operation, layer.inputs, try layer.outputShape())]
  }
}
