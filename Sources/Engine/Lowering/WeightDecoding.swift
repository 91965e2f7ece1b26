import CoreMLModel
import TensorCore

extension Weights {
  func values(shape: [Int]) throws -> FloatValues {
    let count = shape.reduce(1, *)
    guard floatValue.count == count else {
      throw ModelError(.malformed, "\(floatValue.count) values, where \(count) are needed")
    }
    return floatValue
  }
}
