import CoreMLModel
import TensorCore

extension Embedding: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let input = inputs[0]
    let table = try matrix.values([outputChannels, inputDim], "weights")
    let offsets = try bias.biases(outputChannels, areUsed: hasBias)
    return try planeOutput(inputs) { p in
      let value = input[p.sequence, p.batch, 0, 0, 0]
      try require(
        value > -1 && value < Double(inputDim), .mismatch,
        "the index \(value) is outside 0 to \(inputDim - 1)")
      return Double(table[p.channel * inputDim + Int(value)]) + Double(offsets[p.channel])
    }
  }
}
