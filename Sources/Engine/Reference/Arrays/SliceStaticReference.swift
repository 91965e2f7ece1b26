import CoreMLModel
import TensorCore

extension SliceStatic: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let input = inputs[0]
    let positions = input.shape.indices.map { self.positions($0, length: input.shape[$0]) }
    let part = ReferenceTensor.indexed(positions.map(\.count)) { index in
      input[index: zip(positions, index).map { $0[$1] }]
    }
    return [part.reshaped(shape)]
  }

  /// The positions that a Python slice visits along an axis from `begin` to before `end`.
  private func positions(_ axis: Int, length: Int) -> [Int] {
    func counted(_ position: Int) -> Int { position < 0 ? position + length : position }
    if !squeezeMasks.isEmpty, squeezeMasks[axis] {
      return [beginMasks[axis] ? 0 : counted(beginIds[axis])]
    }
    let isForward = strides[axis] > 0
    let (low, high) = (0, length - 1)
    let end = endMasks[axis] ? (isForward ? length : -1) : counted(endIds[axis])
    var position = counted(beginIds[axis])
    if beginMasks[axis] { position = isForward ? low : high }
    position = isForward ? max(position, low) : min(position, high)
    var positions: [Int] = []
    while (low...high).contains(position), isForward ? position < end : position > end {
      positions.append(position)
      position &+= strides[axis]
    }
    return positions
  }
}

extension Reverse: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let input = inputs[0]
    return try arrayOutput(inputs) { index in
      input[
        index: index.indices.map { reverseDim[$0] ? input.shape[$0] - 1 - index[$0] : index[$0] }]
    }
  }
}

extension SlidingWindows: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let input = inputs[0]
    let axis = try ArrayShape.axis(axis, rank: input.shape.count)
    return try arrayOutput(inputs) { index in
      var source = index
      let window = source.remove(at: axis)
      source[axis] += window * step
      return input[index: source]
    }
  }
}
