import TensorCore
import Testing

@testable import CustomLayers

@Suite struct FormulaLayerTests {
  private func evaluate(
    _ layer: FormulaLayer, _ shape: [Int], _ values: [Float]
  ) throws -> [Float] {
    let output = try #require(layer.outputShapes(forInputShapes: [shape]).first)
    var result = [Float](repeating: .nan, count: output.reduce(1, *))
    try values.withUnsafeBufferPointer { input in
      try result.withUnsafeMutableBufferPointer { target in
        try layer.evaluate(
          inputs: [CustomLayerInput(shape: shape, elements: input)],
          outputs: [CustomLayerOutput(shape: output, elements: target)])
      }
    }
    return result
  }

  @Test func parametersAndWeightsHaveNames() throws {
    let layer = try FormulaLayer(parameters: [
      "expression": .string("a * x[:, :, :, 1:, :] + w"), "a": .int(2),
      "weights": .string("w[1,1,2,1,1]"), "engineName": .string("Formula"),
    ])
    try layer.setWeightData([Bytes([Float(10), 20])])
    #expect(
      try evaluate(layer, [1, 1, 2, 2, 2], [1, 2, 3, 4, 5, 6, 7, 8]) == [16, 18, 34, 36])
    // Half precision: 0.5 and −2.
    try layer.setWeightData([Bytes([UInt16(0x3800), 0xC000])])
    #expect(
      try evaluate(layer, [1, 1, 2, 2, 2], [1, 2, 3, 4, 5, 6, 7, 8]) == [6.5, 8.5, 12, 14])
    // A different input shape.
    #expect(try layer.outputShapes(forInputShapes: [[3, 1, 2, 5, 7]]) == [[3, 1, 2, 4, 7]])
  }

  private func failure(
    _ parameters: [String: CustomLayerParameter], weights: [Bytes] = [], _ shapes: [[Int]] = []
  ) -> ModelError? {
    do {
      let layer = try FormulaLayer(parameters: parameters)
      try layer.setWeightData(weights)
      _ = try layer.outputShapes(forInputShapes: shapes)
      return nil
    } catch { return error as? ModelError }
  }

  @Test func whatDoesNotFitIsRefused() {
    let x: CustomLayerParameter = .string("x")
    #expect(failure([:])?.message == "the formula is missing")
    #expect(failure(["expression": .int(1)])?.field == "parameters.expression")
    #expect(
      failure(["expression": .string("x * y")])?.message == "column 5: unknown name 'y'")
    #expect(failure(["expression": x, "weights": .string("w")])?.field == "parameters.weights")
    #expect(failure(["expression": x, "weights": .string("w[0]")])?.field == "parameters.weights")
    #expect(
      failure(["expression": x, "weights": .string("w[2]")])?.message
        == "it has 0 weights, but the formula has 1")
    #expect(
      failure(["expression": x, "weights": .string("w[2]")], weights: [Bytes([UInt8(1), 2, 3])])?
        .message == "'w' has 3 bytes; 2 numbers are needed")
    #expect(
      failure(
        ["expression": x, "weights": .string("w[3037000500,3037000500]")],
        weights: [Bytes([UInt8(1)])])?.code == .limitExceeded)
    #expect(
      failure(["expression": x], [[1, 1, 2, 2, 2], [1, 1, 2, 2, 2]])?.message
        == "it has 2 inputs, but the class takes 1")
    #expect(failure(["expression": .string("sum(x)")], [[1, 1, 2, 2, 2]])?.code == .malformed)
    #expect(failure(["expression": .string("x[7]")], [[1, 1, 2, 2, 2]])?.code == .mismatch)
  }
}
