import CoreMLModel

extension ReverseSeq: ReferenceFormula {
  /// out[b, t] = in[b, n − 1 − t] for t < n, the length of item b; otherwise in[b, t].
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let rank = inputs[0].shape.count
    let batch = batchAxis < 0 ? rank + batchAxis : batchAxis
    let sequence = sequenceAxis < 0 ? rank + sequenceAxis : sequenceAxis
    return try arrayOutput(inputs) { index in
      let length = inputs[1].elements[index[batch]]
      var source = index
      let positions = (0..<inputs[0].shape[sequence]).prefix { Double($0 + 1) <= length }
      if positions.contains(index[sequence]) {
        source[sequence] = positions.count - 1 - index[sequence]
      }
      return inputs[0][index: source]
    }
  }
}
