import CoreMLModel
import TensorCore

/// Rounding of a layer's input to 8 bits while it runs: codes of −127 to 127, the largest magnitude
/// being 127.
enum DynamicCodes {
  /// What a code stands for, of values whose largest magnitude is `largest`.
  static func step(_ largest: Double) -> Double { largest > 0 ? largest / 127 : 1 }

  static func rounded(_ value: Double, _ step: Double) -> Double {
    (value / step).rounded(.toNearestOrEven) * step
  }
}

extension LayerLowering {
  /// The value as its codes give it.
  mutating func rounded(_ value: Graph.ValueID) -> Graph.ValueID {
    let shape = graph.shape(value)
    let count = shape.count
    let operation = ArrayOperation(kind: "round to 8 bits", units: 1) { buffers, _ in
      let largest = (0..<count).reduce(Float(0)) { max($0, abs(buffers.input[$1])) }
      let step = DynamicCodes.step(Double(largest))
      for index in 0..<count {
        buffers.output[index] = Float(DynamicCodes.rounded(Double(buffers.input[index]), step))
      }
    }
    return add(operation, [value], shape)
  }
}
