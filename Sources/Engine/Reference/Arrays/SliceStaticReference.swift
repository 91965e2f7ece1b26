import CoreMLModel
import TensorCore

extension SliceStatic: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let input = inputs[0]
    let places = input.shape.indices.map { self.places($0, length: input.shape[$0]) }
    let part = ReferenceTensor.indexed(places.map(\.count)) { index in
      input[index: zip(places, index).map { $0[$1] }]
    }
    return [part.reshaped(shape)]
  }

  /// The positions that a Python slice visits along an axis from `begin` to before `end`.
  private func places(_ axis: Int, length: Int) -> [Int] {
    func counted(_ place: Int) -> Int { place < 0 ? place + length : place }
    if !squeezeMasks.isEmpty, squeezeMasks[axis] {
      return [beginMasks[axis] ? 0 : counted(beginIds[axis])]
    }
    let isForward = strides[axis] > 0
    let (low, high) = (0, length - 1)
    let end = endMasks[axis] ? (isForward ? length : -1) : counted(endIds[axis])
    var place = counted(beginIds[axis])
    if beginMasks[axis] { place = isForward ? low : high }
    place = isForward ? max(place, low) : min(place, high)
    var places: [Int] = []
    while (low...high).contains(place), isForward ? place < end : place > end {
      places.append(place)
      place &+= strides[axis]
    }
    return places
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
