import CoreMLModel
import TensorCore

extension Double {
  /// The position in 0 ..< length for this number; negative numbers count from the end. The
  /// specification does not cover other values: past an end they give that end, and NaN gives the
  /// first position.
  func position(in length: Int) -> Int {
    if isNaN { return 0 }
    let whole = rounded(.down)
    let counted = whole < 0 ? Double(length) + whole : whole
    return (0..<length).last { Double($0) <= counted } ?? 0
  }
}

extension Gather: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let (input, positions) = (inputs[0], inputs[1])
    let axis = try ArrayShape.axis(axis, rank: input.shape.count)
    return try arrayOutput(inputs) { index in
      let chosen = Array(index[axis..<axis + positions.shape.count])
      var source = index
      source.replaceSubrange(
        axis..<axis + positions.shape.count,
        with: [positions[index: chosen].position(in: input.shape[axis])])
      return input[index: source]
    }
  }
}

extension GatherND: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let (input, positions) = (inputs[0], inputs[1])
    let depth = positions.shape.last ?? 1
    let count = positions.shape.count - 1
    let full = Array(positions.shape.dropLast() + input.shape.dropFirst(depth))
    let result = ReferenceTensor.indexed(full.isEmpty ? [1] : full) { index in
      let chosen = full.isEmpty ? [] : Array(index[..<count])
      let position = (0..<depth).map {
        positions[index: chosen + [$0]].position(in: input.shape[$0])
      }
      return input[index: position + (full.isEmpty ? [] : index[count...])]
    }
    return [result.reshaped(try outputShape(inputs))]
  }
}

extension GatherAlongAxis: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let (input, positions) = (inputs[0], inputs[1])
    let axis = try ArrayShape.axis(axis, rank: input.shape.count)
    return try arrayOutput(inputs) { index in
      var source = index
      source[axis] = positions[index: index].position(in: input.shape[axis])
      return input[index: source]
    }
  }
}

extension EmbeddingND: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let table = try matrix.values([embeddingSize, vocabSize], "weights")
    let offsets = try bias.biases(embeddingSize, areUsed: hasBias)
    return try arrayOutput(inputs) { index in
      let position = index[index.count - 1]
      let word = inputs[0][index: index.dropLast() + [0]].position(in: vocabSize)
      return Double(table[position * vocabSize + word]) + Double(offsets[position])
    }
  }
}

extension OneHot: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    return try arrayOutput(inputs) { index in
      var source = index
      let position = Double(source.remove(at: axis))
      let value = inputs[0][index: source]
      return Double(value >= position && value < position + 1 ? onValue : offValue)
    }
  }
}
