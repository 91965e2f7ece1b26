import CoreMLModel
import TensorCore

/// The input's elements in order, with the output's shape.
protocol ReshapeReferenceLayer: ReferenceLayer {}

extension ReshapeReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [inputs[0].reshaped(try outputShape(inputs))]
  }
}

extension ReshapeStatic: ReshapeReferenceLayer {}
extension RankPreservingReshape: ReshapeReferenceLayer {}
extension ReshapeLike: ReshapeReferenceLayer {}
extension FlattenTo2D: ReshapeReferenceLayer {}
extension ExpandDims: ReshapeReferenceLayer {}
extension Squeeze: ReshapeReferenceLayer {}

extension Transpose: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let permutation = permutation(of: inputs[0].shape)
    return try arrayOutput(inputs) { index in
      var source = index
      for (position, axis) in permutation.enumerated() { source[axis] = index[position] }
      return inputs[0][index: source]
    }
  }
}

extension ConcatND: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    return try arrayOutput(inputs) { index in
      var source = index
      if interleave {
        source[axis] = index[axis] / inputs.count
        return inputs[index[axis] % inputs.count][index: source]
      }
      for input in inputs {
        if source[axis] < input.shape[axis] { return input[index: source] }
        source[axis] -= input.shape[axis]
      }
      return .nan
    }
  }
}

extension Stack: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    return try arrayOutput(inputs) { index in
      var source = index
      return inputs[source.remove(at: axis)][index: source]
    }
  }
}

extension SplitND: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let input = inputs[0]
    let axis = try ArrayShape.axis(axis, rank: input.shape.count)
    var start = 0
    return try outputShapes([input.shape]).map { shape in
      defer { start += shape[axis] }
      return ReferenceTensor.indexed(shape) { index in
        var source = index
        source[axis] += start
        return input[index: source]
      }
    }
  }
}
