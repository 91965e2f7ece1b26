import CoreMLModel
import TensorCore

extension Double {
  /// As `Float.place(in:)`.
  fileprivate func place(in length: Int) -> Int {
    let bounded = Swift.min(Swift.max(isNaN ? 0 : self, -1e9), 1e9)
    let whole = Int(bounded.rounded(.down))
    return Swift.min(Swift.max(whole < 0 ? whole + length : whole, 0), length - 1)
  }
}

extension Gather: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let (input, places) = (inputs[0], inputs[1])
    let axis = try ArrayShape.axis(axis, rank: input.shape.count)
    return [
      ReferenceTensor.indexed(try outputShape(inputs)) { index in
        let chosen = Array(index[axis..<axis + places.shape.count])
        var source = index
        source.replaceSubrange(
          axis..<axis + places.shape.count,
          with: [places[index: chosen].place(in: input.shape[axis])])
        return input[index: source]
      }
    ]
  }
}

extension GatherND: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
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

extension GatherAlongAxis: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let (input, places) = (inputs[0], inputs[1])
    let axis = try ArrayShape.axis(axis, rank: input.shape.count)
    return [
      ReferenceTensor.indexed(try outputShape(inputs)) { index in
        var source = index
        source[axis] = places[index: index].place(in: input.shape[axis])
        return input[index: source]
      }
    ]
  }
}

extension EmbeddingND: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let table = try matrix.values([embeddingSize, vocabSize], "weights")
    let offsets =
      hasBias
      ? try bias.values([embeddingSize], "bias") : [Float](repeating: 0, count: embeddingSize)
    return [
      ReferenceTensor.indexed(try outputShape(inputs)) { index in
        let place = index[index.count - 1]
        let word = inputs[0][index: index.dropLast() + [0]].place(in: vocabSize)
        return Double(table[place * vocabSize + word]) + Double(offsets[place])
      }
    ]
  }
}

extension OneHot: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    return [
      ReferenceTensor.indexed(shape) { index in
        var source = index
        let place = Double(source.remove(at: axis))
        let value = inputs[0][index: source]
        return Double(value >= place && value < place + 1 ? onValue : offValue)
      }
    ]
  }
}
