import CoreMLModel
import TensorCore

extension Embedding: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let input = inputs[0]
    let table = try matrix.values([outputChannels, inputDim], "weights")
    let offsets =
      hasBias
      ? try bias.values([outputChannels], "bias") : [Float](repeating: 0, count: outputChannels)
    return [
      try ReferenceTensor(shape: shape) { p in
        let value = input[p.sequence, p.batch, 0, 0, 0]
        guard value > -1, value < Double(inputDim) else {
          throw ModelError(
            .mismatch, "the index \(value) lies outside of 0 to \(inputDim - 1)")
        }
        return Double(table[p.channel * inputDim + Int(value)]) + Double(offsets[p.channel])
      }
    ]
  }
}
