import CoreMLModel
import LibC
import TensorCore

extension InnerProduct: HalfSumLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let input = int8DynamicQuantize ? inputs[0].roundedToCodes : inputs[0]
    let rows = try matrix.values([outputChannels, inputChannels], "weights")
    let offsets = try bias.biases(outputChannels, areUsed: hasBias)
    let output = try ReferenceTensor(shape: outputShape(inputs)) { p in
      let item = (p.sequence * input.batch + p.batch) * inputChannels
      var sum = ReferenceSum(Double(offsets[p.channel]), settings)
      for i in 0..<inputChannels {
        sum.add(Double(rows[p.channel * inputChannels + i]) * input.elements[item + i])
      }
      return sum.value
    }
    return [output]
  }
}

extension ReferenceTensor {
  /// The array rounded to 255 codes, from −127 to 127 for the largest magnitude.
  var roundedToCodes: ReferenceTensor {
    let largest = elements.map(abs).max() ?? 0
    return largest == 0 ? self : mapped { rint(127 * $0 / largest) * largest / 127 }
  }
}
