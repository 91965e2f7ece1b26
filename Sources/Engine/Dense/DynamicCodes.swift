import CoreMLModel
import TensorCore

extension LayerLowering {
  /// The value rounded to 8 bits at run time: codes from −127 to 127, with 127 for the largest
  /// magnitude.
  mutating func rounded(_ value: Graph.ValueID) -> Graph.ValueID {
    let shape = graph.shape(value)
    let count = shape.count
    let operation = ArrayOperation(kind: "round to 8 bits", units: 1) { buffers, _ in
      let largest = (0..<count).reduce(Float(0)) { max($0, abs(buffers.input[$1])) }
      let step = largest > 0 ? Double(largest) / 127 : 1
      for index in 0..<count {
        let code = (Double(buffers.input[index]) / step).rounded(.toNearestOrEven)
        buffers.output[index] = Float(code * step)
      }
    }
    return add(operation, [value], shape)
  }
}
