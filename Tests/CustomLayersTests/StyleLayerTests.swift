import TensorCore
import Testing

@testable import CustomLayers

@Suite struct StyleLayerTests {
  @Test func rescaleMovesTheRangeOfTanhToThatOfAPicture() throws {
    let layer = try ElementwiseCustomLayer<RescaleOutputDefinition>(parameters: [:])
    let values: [Float] = [-1, -0.5, 0, 0.25, 1]
    var result = [Float](repeating: .nan, count: 5)
    try values.withUnsafeBufferPointer { input in
      try result.withUnsafeMutableBufferPointer { output in
        try layer.evaluate(
          inputs: [CustomLayerInput(shape: [1, 1, 1, 1, 5], elements: input)],
          outputs: [CustomLayerOutput(shape: [1, 1, 1, 1, 5], elements: output)])
      }
    }
    #expect(result == [0, 63.75, 127.5, 159.375, 255])
  }

  @Test func cropTakesTwoFromEachBorder() throws {
    let layer = try ResCropBlockLambda(parameters: [:])
    #expect(try layer.outputShapes(forInputShapes: [[1, 1, 2, 6, 7]]) == [[1, 1, 2, 2, 3]])
    #expect(throws: ModelError.self) { try layer.outputShapes(forInputShapes: [[1, 1, 2, 4, 7]]) }
    let values = (0..<84).map { Float($0) }
    var result = [Float](repeating: .nan, count: 12)
    try values.withUnsafeBufferPointer { input in
      try result.withUnsafeMutableBufferPointer { output in
        try layer.evaluate(
          inputs: [CustomLayerInput(shape: [1, 1, 2, 6, 7], elements: input)],
          outputs: [CustomLayerOutput(shape: [1, 1, 2, 2, 3], elements: output)])
      }
    }
    // Row 2 starts at 14, the next channel at 42.
    #expect(result == [16, 17, 18, 23, 24, 25, 58, 59, 60, 65, 66, 67])
  }
}
