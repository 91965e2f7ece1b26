import CoreMLModel
import TensorCore

extension InnerProduct: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let input = inputs[0]
    let rows = try matrix.values([outputChannels, inputChannels], "weights")
    let offsets =
      hasBias
      ? try bias.values([outputChannels], "bias") : [Float](repeating: 0, count: outputChannels)
    return [
      ReferenceTensor(shape: shape) { p in
        let item = (p.sequence * input.batch + p.batch) * inputChannels
        var sum = Double(offsets[p.channel])
        for i in 0..<inputChannels {
          sum += Double(rows[p.channel * inputChannels + i]) * input.elements[item + i]
        }
        return sum
      }
    ]
  }
}
