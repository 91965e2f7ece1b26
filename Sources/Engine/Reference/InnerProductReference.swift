import CoreMLModel
import LibC
import TensorCore

extension InnerProduct: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let input = int8DynamicQuantize ? inputs[0].roundedToCodes : inputs[0]
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

extension ReferenceTensor {
  /// The array rounded to 255 codes, of which the largest stands for the largest magnitude.
  var roundedToCodes: ReferenceTensor {
    let largest = elements.map(abs).max() ?? 0
    return largest == 0 ? self : mapped { rint(127 * $0 / largest) * largest / 127 }
  }
}
