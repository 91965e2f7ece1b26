import Foundation
import TensorCore
import Testing

@testable import CustomLayers

@Suite struct SwishTests {
  private func evaluate(_ layer: Swish, _ shape: [Int], _ values: [Float]) throws -> [Float] {
    #expect(try layer.outputShapes(forInputShapes: [shape]) == [shape])
    var result = [Float](repeating: .nan, count: values.count)
    try values.withUnsafeBufferPointer { input in
      try result.withUnsafeMutableBufferPointer { output in
        try layer.evaluate(
          inputs: [CustomLayerInput(shape: shape, elements: input)],
          outputs: [CustomLayerOutput(shape: shape, elements: output)])
      }
    }
    return result
  }

  private func formula(_ x: Float, _ beta: Double) -> Double {
    Double(x) / (1 + exp(-beta * Double(x)))
  }

  private func expectClose(_ values: [Float], _ expected: [Double]) {
    for (value, exact) in zip(values, expected) {
      #expect(abs(Double(value) - exact) <= 3e-7 * abs(exact))
    }
  }

  @Test func betaIsOneWithoutParameterAndWeight() throws {
    let layer = try Swish(parameters: ["engineName": .string("Swish")])
    try layer.setWeightData([])
    let values: [Float] = (0..<64).map { Float($0) / 4 - 8 }
    let result = try evaluate(layer, [1, 1, 4, 4, 4], values)
    expectClose(result, values.map { formula($0, 1) })
  }

  @Test func betaIsAParameter() throws {
    let layer = try Swish(parameters: ["beta": .double(0.5)])
    let values: [Float] = [-3, -1, 0, 1, 3]
    let result = try evaluate(layer, [1, 1, 5, 1, 1], values)
    expectClose(result, values.map { formula($0, 0.5) })
  }

  @Test func betaIsAWeightForEachChannel() throws {
    let layer = try Swish(parameters: [:])
    try layer.setWeights([CustomLayerWeight([0.5, 1, 2])])
    let values: [Float] = [-1, 2, -1, 2, -1, 2]
    let result = try evaluate(layer, [1, 1, 3, 1, 2], values)
    expectClose(result, zip(values, [0.5, 0.5, 1, 1, 2, 2]).map { formula($0, $1) })
  }

  @Test func refusesWhatDoesNotFit() throws {
    #expect(throws: ModelError.self) { try Swish(parameters: ["beta": .string("one")]) }
    let layer = try Swish(parameters: [:])
    #expect(throws: ModelError.self) {
      try layer.setWeights([CustomLayerWeight(Bytes([UInt8(1)]), .float32)])
    }
    try layer.setWeights([CustomLayerWeight([1, 2])])
    #expect(throws: ModelError.self) { try layer.outputShapes(forInputShapes: [[1, 1, 3, 2, 2]]) }
  }
}
