import CoreMLModel
import TensorCore

extension Double {
  /// The position in 0 ..< length for this number; negative numbers count from the end. The
  /// specification does not cover other values: past an end they give that end, and NaN gives the
  /// first position.
  fileprivate func place(in length: Int) -> Int {
    if isNaN { return 0 }
    let whole = rounded(.down)
    let counted = whole < 0 ? Double(length) + whole : whole
    return (0..<length).last { Double($0) <= counted } ?? 0
  }
}

extension Gather: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let (input, places) = (inputs[0], inputs[1])
    let axis = try ArrayShape.axis(axis, rank: input.shape.count)
    return try arrayOutput(inputs) { index in
      let chosen = Array(index[axis..<axis + places.shape.count])
      var source = index
      source.replaceSubrange(
        axis..<axis + places.shape.count,
        with: [places[index: chosen].place(in: input.shape[axis])])
      return input[index: source]
    }
  }
}

extension GatherND: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let (input, places) = (inputs[0], inputs[1])
    let depth = places.shape.last ?? 1
    let count = places.shape.count - 1
    let full = Array(places.shape.dropLast() + input.shape.dropFirst(depth))
    let result = ReferenceTensor.indexed(full.isEmpty ? [1] : full) { index in
      let chosen = full.isEmpty ? [] : Array(index[..<count])
      let place = (0..<depth).map {
        places[index: chosen + [$0]].place(in: input.shape[$0])
      }
      return input[index: place + (full.isEmpty ? [] : index[count...])]
    }
    return [result.reshaped(try outputShape(inputs))]
  }
}

extension GatherAlongAxis: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let (input, places) = (inputs[0], inputs[1])
    let axis = try ArrayShape.axis(axis, rank: input.shape.count)
    return try arrayOutput(inputs) { index in
      var source = index
      source[axis] = places[index: index].place(in: input.shape[axis])
      return input[index: source]
    }
  }
}

extension EmbeddingND: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let table = try matrix.values([embeddingSize, vocabSize], "weights")
    let offsets = try bias.biases(embeddingSize, areUsed: hasBias)
    return try arrayOutput(inputs) { index in
      let place = index[index.count - 1]
      let word = inputs[0][index: index.dropLast() + [0]].place(in: vocabSize)
      return Double(table[place * vocabSize + word]) + Double(offsets[place])
    }
  }
}

extension OneHot: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    return try arrayOutput(inputs) { index in
      var source = index
      let place = Double(source.remove(at: axis))
      let value = inputs[0][index: source]
      return Double(value >= place && value < place + 1 ? onValue : offValue)
    }
  }
}
