import CoreMLModel
import Kernels
import LibC
import TensorCore

/// Reduces row-major items over some of C, H and W.
extension Reduce: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try require(
      mode != .argmax || (axis != .chw && axis != .hw), "argmax needs one axis", field: "axis")
    let input = layer.inputShapes[0]
    let output = try layer.outputShape()
    // Each output reduces `length` elements, `step` apart.
    let (length, step): (Int, Int) =
      switch axis {
      case .chw: (input.itemCount, 1)
      case .hw: (input.area, 1)
      case .c: (input.channels, input.area)
      case .h: (input.height, input.width)
      case .w: (input.width, 1)
      }
    try require(
      input.count / length == output.count, "the output's shape \(output.dimensions) does not fit",
      field: "output")
    let (mode, epsilon) = (mode, Double(effectiveEpsilon))
    let elements: ArrayOperation.Averaged? =
      if step == 1 { .adjacent(length) } else if axis == .c { .channels } else { nil }
    let operation = ArrayOperation(
      kind: "reduce \(mode)", units: output.count,
      averaged: mode == .avg ? elements : nil
    ) { buffers, index in
      let start = buffers.input + index / step * step * length + index % step
      if step == 1 {
        buffers.output[index] = mode.value(start, length, epsilon, buffers.kernels)
        return
      }
      withUnsafeTemporaryAllocation(of: Float.self, capacity: length) { copy in
        guard let values = copy.baseAddress else { return }
        for position in 0..<length { values[position] = start[position &* step] }
        buffers.output[index] = mode.value(values, length, epsilon, buffers.kernels)
      }
    }
    return [layer.add(operation, layer.inputs, output)]
  }
}

extension Reduce.Operation {
  /// The reduction of a contiguous vector.
  fileprivate func value(
    _ values: UnsafePointer<Float>, _ count: Int, _ epsilon: Double, _ kernels: any KernelTable.Type
  ) -> Float {
    func of(_ function: AxesReduction) -> Float { function.value(values, count, kernels) }
    switch self {
    case .sum: return of(.sum)
    case .avg: return of(.mean)
    case .prod: return of(.product)
    case .sumsquare: return of(.squares)
    case .l1: return of(.magnitudes)
    case .l2: return of(.length)
    case .max: return of(.maximum)
    case .min: return of(.minimum)
    case .logsum:
      var total = 0.0
      for index in 0..<count { total += log(Double(values[index]) + epsilon) }
      return Float(total)
    case .argmax:
      var best = 0
      for index in 0..<count where values[index] > values[best] { best = index }
      return Float(best)
    }
  }
}
