import CoreMLModel
import TensorCore

extension SliceBySize: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = inputs[0].shape
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    let first = min(inputs[1].elements[0].position(in: shape[axis]), shape[axis] - size)
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
