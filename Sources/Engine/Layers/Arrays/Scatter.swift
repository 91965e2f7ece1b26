import CoreMLModel
import TensorCore

extension ScatterMode {
  /// Combines `count` elements with as many elements of `updates`.
  func combine(_ target: UnsafeMutablePointer<Float>, _ updates: UnsafePointer<Float>, count: Int) {
    func each(_ function: (Float, Float) -> Float) {
      for index in 0..<count { target[index] = function(target[index], updates[index]) }
    }
    switch self {
    case .update: target.update(from: updates, count: count)
    case .add: each(+)
    case .subtract: each(-)
    case .multiply: each(*)
    case .divide: each(/)
    case .maximum: each(max)
    case .minimum: each(min)
    }
  }
}

extension LayerLowering {
  /// A copy of the first input, modified by `units`, each in its own `length` elements.
  fileprivate mutating func scattered(
    _ units: Int, length: Int,
    _ body: @escaping @Sendable (UnsafeMutablePointer<Float>, ArrayBuffers, Int) -> Void
  ) throws -> [Graph.ValueID] {
    let operation = ArrayOperation(kind: "scatter", units: units) { buffers, unit in
      let target = buffers.output + unit * length
      target.update(from: buffers.input + unit * length, count: length)
      body(target, buffers, unit)
    }
    return [add(operation, inputs, try outputShape())]
  }
}

extension Scatter: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    _ = try layer.outputShape()
    let walk = try AxisWalk(layer.inputShapes[0], axis)
    let count = layer.inputShapes[1].count
    let mode = mode
    return try layer.scattered(walk.outer, length: walk.length * walk.inner) {
      target, buffers, unit in
      let updates = buffers.inputs[2] + unit * count * walk.inner
      for index in 0..<count {
        let position = buffers.inputs[1][index].position(in: walk.length)
        mode.combine(
          target + position * walk.inner, updates + index * walk.inner, count: walk.inner)
      }
    }
  }
}

extension ScatterND: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let depth = layer.inputShapes[1].dimensions.last ?? 1
    let sizes = Array(shape.dimensions[..<depth])
    let inner = shape.dimensions[depth...].reduce(1, *)
    let count = layer.inputShapes[1].count / depth
    let mode = mode
    return try layer.scattered(1, length: shape.count) { target, buffers, _ in
      for index in 0..<count {
        var position = 0
        for axis in 0..<depth {
          position =
            position * sizes[axis]
            + buffers.inputs[1][index * depth + axis].position(in: sizes[axis])
        }
        mode.combine(target + position * inner, buffers.inputs[2] + index * inner, count: inner)
      }
    }
  }
}

extension ScatterAlongAxis: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    _ = try layer.outputShape()
    let walk = try AxisWalk(layer.inputShapes[0], axis)
    let count = layer.inputShapes[1].count / walk.outer
    let mode = mode
    return try layer.scattered(walk.outer, length: walk.length * walk.inner) {
      target, buffers, unit in
      let start = unit * count
      for index in 0..<count {
        let position = buffers.inputs[1][start + index].position(in: walk.length)
        mode.combine(
          target + position * walk.inner + index % walk.inner, buffers.inputs[2] + start + index,
          count: 1)
      }
    }
  }
}
