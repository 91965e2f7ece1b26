import CoreMLModel
import TensorCore

extension ScatterMode {
  fileprivate func combined(_ a: Double, _ b: Double) -> Double {
    switch self {
    case .update: b
    case .add: a + b
    case .subtract: a - b
    case .multiply: a * b
    case .divide: a / b
    case .maximum: max(a, b)
    case .minimum: min(a, b)
    }
  }
}

extension ReferenceTensor {
  /// The array after each element of `updates` is combined with the element at `target`.
  fileprivate func scattering(
    _ updates: ReferenceTensor, _ mode: ScatterMode, _ target: ([Int]) -> [Int]
  ) -> [ReferenceTensor] {
    var result = self
    _ = ReferenceTensor.indexed(updates.shape) { index in
      let offset = result.offset(target(index))
      result.elements[offset] = mode.combined(result.elements[offset], updates[index: index])
      return 0
    }
    return [result]
  }
}

extension Scatter: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    let rank = inputs[1].shape.count
    var updated = shape
    updated.replaceSubrange(axis...axis, with: inputs[1].shape)
    let updates = inputs[2].reshaped(updated)
    return inputs[0].scattering(updates, mode) { index in
      var target = index
      let position = inputs[1][index: Array(index[axis..<axis + rank])].position(in: shape[axis])
      target.replaceSubrange(axis..<axis + rank, with: [position])
      return target
    }
  }
}

extension ScatterND: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let positions = inputs[1]
    let (rank, depth) = (positions.shape.count - 1, positions.shape[positions.shape.count - 1])
    let parts = positions.shape.dropLast() + shape.dropFirst(depth)
    let updates = inputs[2].reshaped(parts.isEmpty ? [1] : Array(parts))
    return inputs[0].scattering(updates, mode) { index in
      (0..<depth).map { positions[index: index.prefix(rank) + [$0]].position(in: shape[$0]) }
        + index.dropFirst(rank).prefix(shape.count - depth)
    }
  }
}

extension ScatterAlongAxis: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    return inputs[0].scattering(inputs[2].reshaped(inputs[1].shape), mode) { index in
      var target = index
      target[axis] = inputs[1][index: index].position(in: shape[axis])
      return target
    }
  }
}
