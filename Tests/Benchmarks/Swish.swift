import CustomLayers
import Foundation
import TensorCore

/// An array as Core ML passes it to a custom layer, with elements accessed through a subscript with
/// boxed indices.
private final class SubscriptedArray {
  let shape: [Int]
  private let strides: [Int]
  private var elements: [Float]

  init(shape: [Int], _ elements: [Float]) {
    self.shape = shape
    self.elements = elements
    var strides = [Int](repeating: 1, count: shape.count)
    for axis in shape.indices.dropLast().reversed() {
      strides[axis] = strides[axis + 1] * shape[axis + 1]
    }
    self.strides = strides
  }

  subscript(indices: [NSNumber]) -> NSNumber {
    get { NSNumber(value: elements[offset(indices.map(\.intValue))]) }
    set { elements[offset(indices.map(\.intValue))] = newValue.floatValue }
  }

  /// The same subscript with unboxed indices.
  subscript(indices: [Int]) -> Float {
    get { elements[offset(indices)] }
    set { elements[offset(indices)] = newValue }
  }

  private func offset(_ indices: [Int]) -> Int {
    zip(indices, strides).reduce(0) { $0 + $1.0 * $1.1 }
  }
}

/// x / (1 + exp(−x)) for 6 × 256 × 256 values in three ways: with Assay's layer, with a loop over
/// subscripts with unboxed indices, and with a loop over boxed ones as in Core ML.
struct SwishTimes {
  static let shape = [6, 256, 256]
  let layer: Double
  let subscripts: Double
  let boxed: Double

  init() throws {
    let values = (0..<Self.shape.reduce(1, *)).map { Float($0 % 2003) / 100 - 10 }
    let clock = ContinuousClock()
    func shortest(_ runs: Int, _ body: () throws -> Void) rethrows -> Double {
      try (0..<runs).map { _ in try clock.measure(body) / .seconds(1) }.min() ?? .infinity
    }
    let swish = try Swish(parameters: [:])
    var result = [Float](repeating: 0, count: values.count)
    let blob = [1, 1] + Self.shape
    layer = try values.withUnsafeBufferPointer { input in
      try result.withUnsafeMutableBufferPointer { output in
        try shortest(50) {
          try swish.evaluate(
            inputs: [CustomLayerInput(shape: blob, elements: input)],
            outputs: [CustomLayerOutput(shape: blob, elements: output)])
        }
      }
    }
    let input = SubscriptedArray(shape: Self.shape, values)
    let output = SubscriptedArray(shape: Self.shape, values)
    func loop(_ body: (Int, Int, Int) -> Void) {
      for c in 0..<Self.shape[0] {
        for y in 0..<Self.shape[1] { for x in 0..<Self.shape[2] { body(c, y, x) } }
      }
    }
    subscripts = shortest(3) {
      loop { c, y, x in
        let value = input[[c, y, x]]
        output[[c, y, x]] = value / (1 + expf(-value))
      }
    }
    boxed = shortest(2) {
      loop { c, y, x in
        let index = [c as NSNumber, y as NSNumber, x as NSNumber]
        let value = input[index].floatValue
        output[index] = NSNumber(value: value / (1 + expf(-value)))
      }
    }
  }
}
