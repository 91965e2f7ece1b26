import ByteFormats
import CoreMLModel
import CustomLayers
import Foundation
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import Assay

/// Conversions with built-in or registered custom layers, so that their shapes are known.
@Suite struct CustomLayerShapeTests {
  private func convert(
    _ type: String, _ rule: String, _ registry: CustomLayerRegistry = CustomLayerRegistry()
  ) throws -> ConversionResult {
    let text = """
      name: "n"
      input: "data" input_shape { dim: 1 dim: 3 dim: 4 dim: 6 }
      layer { name: "x" type: "\(type)" bottom: "data" top: "y" }
      layer { name: "r" type: "ReLU" bottom: "y" top: "z" }
      """
    var options = ConversionOptions()
    options.customLayers = try CustomLayerRules(
      JSONValue(parsing: Array(rule.utf8)), folder: ".")
    return try withTemporaryFolder { folder in
      let path = folder + "/net.prototxt"
      try writeFile(Array(text.utf8), to: path)
      return try ModelSource(contentsOf: path).convert(options, customLayers: registry)
    }
  }

  private func shape(_ result: ConversionResult) -> [Int]? {
    guard case .multiArray(let array) = result.model.description?.output.first?.type?.kind else {
      return nil
    }
    return array.shape
  }

  @Test func aBuiltInClassIsAsked() throws {
    let result = try convert(
      "Reorganize",
      #"[{"class": "Reorganize", "className": "SpaceToDepth", "parameters": {"block_size": 2}}]"#)
    #expect(!result.notes.contains { $0.contains("custom layer") })
    let predictor = try Predictor(model: result.model)
    let values = (0..<72).map { Float($0) }
    let prediction = try predictor.predict([
      "data": .array(Tensor(shape: [1, 3, 4, 6], values))
    ])
    // Channel 0 holds channel 0 of the even rows and columns.
    #expect(prediction.outputs.first?.value.shape == [1, 12, 2, 3])
    #expect(
      Array((prediction.outputs.first?.value.elements ?? []).prefix(6)) == [0, 2, 4, 12, 14, 16])
  }

  @Test func anUnknownClassStaysOpen() throws {
    let result = try convert("Wobble", #"[{"class": "Wobble", "className": "Wobble"}]"#)
    #expect(result.notes.contains { $0.contains("depends on a custom layer") })
  }

  @Test func aRefusalIsSaidWithTheLayer() throws {
    let result = try convert(
      "Reorganize",
      #"[{"class": "Reorganize", "className": "SpaceToDepth", "parameters": {"block_size": 5}}]"#)
    #expect(result.notes.contains { $0.contains("SpaceToDepth rejects 'x'") })
  }
}
