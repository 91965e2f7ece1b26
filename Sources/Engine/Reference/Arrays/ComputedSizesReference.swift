import CoreMLModel
import TensorCore

/// A layer that is resolved to a layer of fixed sizes by values of its inputs.
protocol ResolvedReference: ReferenceLayer, DynamicLayer {}

extension ResolvedReference {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    throw ModelError(.internal, "the sizes of the output are unknown")
  }
}

extension RangeDynamic: ResolvedReference {}
extension FillDynamic: ResolvedReference {}
extension BroadcastToDynamic: ResolvedReference {}
extension ReshapeDynamic: ResolvedReference {}
extension SliceDynamic: ResolvedReference {}

extension SliceBySize: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = inputs[0].shape
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    let begin = inputs[1].elements[0].rounded(.down)
    let start = begin < 0 ? begin + Double(shape[axis]) : begin
    let first = Int(min(max(start, 0), Double(shape[axis] - size)))
    return try arrayOutput(inputs) { index in
      var source = index
      source[axis] += first
      return inputs[0][index: source]
    }
  }
}

extension WhereNonZero: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    var positions: [Double] = []
    _ = ReferenceTensor.indexed(inputs[0].shape) { index in
      if inputs[0][index: index] != 0 { positions += index.map(Double.init) }
      return 0
    }
    return [ReferenceTensor(shape: try outputShape(inputs), positions)]
  }
}
