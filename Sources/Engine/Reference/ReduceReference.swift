import CoreMLModel
import LibC
import TensorCore

extension Reduce: HalfSumLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let input = inputs[0]
    let output = try ReferenceTensor(shape: outputShape(inputs)) { p in
      var values: [Double] = []
      for c in axis == .chw || axis == .c ? 0..<input.channels : p.channel..<p.channel + 1 {
        for y in [.chw, .hw, .h].contains(axis) ? 0..<input.height : p.y..<p.y + 1 {
          for x in [.chw, .hw, .w].contains(axis) ? 0..<input.width : p.x..<p.x + 1 {
            values.append(input[p.sequence, p.batch, c, y, x])
          }
        }
      }
      return reduced(values, settings)
    }
    return [output]
  }

  private func reduced(_ values: [Double], _ settings: ReferenceSettings) -> Double {
    let stabilizer = Double(effectiveEpsilon)
    var sum = ReferenceSum(settings)
    switch mode {
    case .sum, .avg:
      sum.add(values)
      return mode == .sum ? sum.value : sum.value / Double(values.count)
    case .prod: return values.reduce(1, *)
    case .logsum: return values.reduce(0) { $0 + log($1 + stabilizer) }
    case .sumsquare: return values.reduce(0) { $0 + $1 * $1 }
    case .l1: return values.reduce(0) { $0 + abs($1) }
    case .l2: return values.reduce(0) { $0 + $1 * $1 }.squareRoot()
    case .max: return values.max() ?? 0
    case .min: return values.min() ?? 0
    case .argmax:
      var best = 0
      for index in values.indices where values[index] > values[best] { best = index }
      return Double(best)
    }
  }
}
