import CoreMLModel
import TensorCore

extension LayerLowering {
  /// Takes the elements in `ranges`, one range per axis, from the first input.
  mutating func sliced(_ ranges: [AxisRange], _ shape: Shape) throws -> Graph.ValueID {
    let input = inputShapes[0]
    if zip(ranges, input.dimensions).allSatisfy({ $0.step == 1 && $0.count == $1 }) {
      return try view(inputs[0], shape)
    }
    let rank = input.rank
    let isWhole = zip(ranges, input.dimensions).dropLast(2).allSatisfy {
      $0.step == 1 && $0.count == $1
    }
    if (3...5).contains(rank), isWhole {
      // Rows and columns can be taken from planes with any layout.
      let positions = ranges.suffix(2).map { range in
        (0..<range.count).map { range.start + $0 * range.step }
      }
      let part = try Shape(ranges.map(\.count))
      let operation = PlaneGatherOperation(kind: "slice", rows: positions[0], columns: positions[1])
      return try view(add(operation, [inputs[0]], part), shape)
    }
    let steps = Tensor.strides(input.dimensions)
    let operation = StridedCopyOperation.merged(
      "slice", sizes: ranges.map(\.count),
      strides: zip(ranges, steps).map { $0.step * $1 },
      offset: zip(ranges, steps).reduce(0) { $0 + $1.0.start * $1.1 })
    return add(operation, [inputs[0]], shape)
  }
}

extension SliceStatic: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    return [try layer.sliced(try ranges(layer.inputShapes[0].dimensions), shape)]
  }
}

extension Reverse: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let ranges = zip(reverseDim, shape.dimensions).map { reverses, size in
      reverses
        ? AxisRange(start: size - 1, step: -1, count: size)
        : AxisRange(start: 0, step: 1, count: size)
    }
    return [try layer.sliced(ranges, shape)]
  }
}

extension SlidingWindows: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let input = layer.inputShapes[0]
    let shape = try layer.outputShape()
    let axis = try ArrayShape.axis(axis, rank: input.rank)
    var steps = Tensor.strides(input.dimensions)
    steps.insert(steps[axis] * step, at: axis)
    let operation = StridedCopyOperation.merged(
      "windows", sizes: shape.dimensions, strides: steps)
    return [layer.add(operation, layer.inputs, shape)]
  }
}
