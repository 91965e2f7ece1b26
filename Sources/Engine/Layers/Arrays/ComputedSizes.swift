import CoreMLModel
import TensorCore

/// A layer that is resolved to a layer of fixed sizes by values of its inputs.
protocol ResolvedLayer: EngineLayer, ReferenceFormula, DynamicLayer {}

// Never called: the layer is resolved first.
extension ResolvedLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    throw ModelError(.internal, "the sizes of the output are unknown")
  }

  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    throw ModelError(.internal, "the sizes of the output are unknown")
  }
}

extension RangeDynamic: ResolvedLayer {}
extension FillDynamic: ResolvedLayer {}
extension BroadcastToDynamic: ResolvedLayer {}
extension ReshapeDynamic: ResolvedLayer {}
extension SliceDynamic: ResolvedLayer {}

extension SliceBySize: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let walk = try AxisWalk(layer.inputShapes[0], axis)
    let size = size
    let operation = ArrayOperation(kind: "slice", units: walk.outer) { buffers, unit in
      let start = min(buffers.inputs[1][0].position(in: walk.length), walk.length - size)
      (buffers.output + unit * size * walk.inner).update(
        from: buffers.input + (unit * walk.length + start) * walk.inner, count: size * walk.inner)
    }
    return [layer.add(operation, layer.inputs, shape)]
  }
}

extension WhereNonZero: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let input = layer.inputShapes[0]
    let (rows, rank) = (shape.dimensions[0], input.rank)
    let operation = ArrayOperation(kind: "places", units: 1) { buffers, _ in
      var row = 0
      for position in 0..<input.count where buffers.input[position] != 0 && row < rows {
        var rest = position
        for axis in (0..<rank).reversed() {
          buffers.output[row * rank + axis] = Float(rest % input.dimensions[axis])
          rest /= input.dimensions[axis]
        }
        row += 1
      }
    }
    return [layer.add(operation, layer.inputs, shape)]
  }
}
