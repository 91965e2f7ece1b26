import CoreMLModel
import TensorCore

extension LayerLowering {
  /// Both inputs, or the only one and a number.
  fileprivate mutating func compare(
    _ function: BinaryFunction, _ alpha: Float
  ) throws -> [Graph.ValueID] {
    let other = try inputs.count > 1 ? inputs[1] : constant([alpha], Shape([1]))
    return [try broadcast(function, inputs[0], other, try outputShape())]
  }

  fileprivate mutating func combine(_ function: BinaryFunction) throws -> [Graph.ValueID] {
    [try broadcast(function, inputs[0], inputs[1], try outputShape())]
  }
}

extension Equal: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.compare(.equal, alpha)
  }
}

extension NotEqual: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.compare(.notEqual, alpha)
  }
}

extension LessThan: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.compare(.less, alpha)
  }
}

extension LessEqual: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.compare(.lessOrEqual, alpha)
  }
}

extension GreaterThan: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.compare(.greater, alpha)
  }
}

extension GreaterEqual: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.compare(.greaterOrEqual, alpha)
  }
}

extension LogicalAnd: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.combine(.and) }
}

extension LogicalOr: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.combine(.or) }
}

extension LogicalXor: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.combine(.exclusiveOr)
  }
}

extension LogicalNot: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let zero = try layer.constant([0], Shape([1]))
    return [try layer.broadcast(.equal, layer.inputs[0], zero, try layer.outputShape())]
  }
}

extension WhereBroadcastable: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let walk = ArrayStrides.merged(
      shape.dimensions,
      layer.inputShapes.map { ArrayStrides.stretched($0.dimensions, to: shape.dimensions) })
    let length = walk.sizes.last ?? 1
    let outer = Array(walk.sizes.dropLast())
    let steps = walk.operands.map { $0.last ?? 0 }
    let outerSteps = walk.operands.map { Array($0.dropLast()) }
    let operation = ArrayOperation(kind: "select", units: outer.reduce(1, *)) { buffers, unit in
      var rest = unit
      var offsets = (0, 0, 0)
      for axis in outer.indices.reversed() {
        let place = rest % outer[axis]
        rest /= outer[axis]
        offsets.0 += place * outerSteps[0][axis]
        offsets.1 += place * outerSteps[1][axis]
        offsets.2 += place * outerSteps[2][axis]
      }
      let condition = buffers.inputs[0] + offsets.0
      let a = buffers.inputs[1] + offsets.1
      let b = buffers.inputs[2] + offsets.2
      let out = buffers.output + unit * length
      for index in 0..<length {
        out[index] =
          condition[index &* steps[0]] != 0 ? a[index &* steps[1]] : b[index &* steps[2]]
      }
    }
    return [layer.add(operation, layer.inputs, shape)]
  }
}
