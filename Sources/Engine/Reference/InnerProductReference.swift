import CoreMLModel
import TensorCore

extension InnerProduct: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let input = inputs[0]
    let rows = try matrix.values([outputChannels, inputChannels], "weights")
    let offsets = try bias.biases(outputChannels, areUsed: hasBias)
    return try planeOutput(inputs) { p in
      let item = (p.sequence * input.batch + p.batch) * inputChannels
      var sum = Double(offsets[p.channel])
      for i in 0..<inputChannels {
        sum += Double(rows[p.channel * inputChannels + i]) * input.elements[item + i]
      }
      return sum
    }
  }
}
