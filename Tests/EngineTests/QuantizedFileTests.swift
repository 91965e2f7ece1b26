import ByteFormats
import CoreMLModel
import Files
import Foundation
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// Files quantized by coremltools, in all of its modes and widths: `Fixtures/quantized`.
@Suite struct QuantizedFileTests {
  static let folder = Fixtures("quantized").folder

  static let names: [String] =
    ["float_16", "linear_symmetric_8", "custom_lut_3"]
    + ["linear", "linear_lut", "kmeans_lut"].flatMap { mode in (1...8).map { "\(mode)_\($0)" } }

  private static func expected() throws -> [String: [Float]] {
    let arrays = try ArraySet.parse(MappedFile.read(folder + "/expected.npz")).arrays
    return Dictionary(
      arrays.map { ($0.name ?? "", Array($0.tensor.elements)) }, uniquingKeysWith: { a, _ in a })
  }

  /// The same values as after dequantization by coremltools.
  @Test func numbers() throws {
    let expected = try Self.expected()
    var seen = 0
    for name in Self.names {
      let model = try Model(contentsOf: "\(Self.folder)/\(name).mlmodel")
      for layer in model.neuralNetwork?.layers ?? [] {
        for weights in layer.parameters?.weights ?? [] {
          let wanted = try #require(expected["\(name)/\(layer.name)/\(weights.name)"])
          #expect(try weights.decoded().array() == wanted, "\(name) \(layer.name) \(weights.name)")
          seen += 1
        }
      }
    }
    #expect(seen == expected.count)
  }

  /// The engine computes the same as with those values in single precision.
  @Test func answers() throws {
    let expected = try Self.expected()
    let input = Tensor(
      shape: [1, 1, 3, 6, 5], (0..<90).map { Float($0 * 37 % 91) / 45 - 1 })
    for name in Self.names {
      let model = try Model(contentsOf: "\(Self.folder)/\(name).mlmodel")
      var floats = model
      for index in floats.neuralNetwork?.layers.indices ?? 0..<0 {
        var layer = try #require(floats.neuralNetwork?.layers[index])
        let layerName = layer.name
        try layer.editWeights { field, weights in
          weights = Weights(expected["\(name)/\(layerName)/\(field)"] ?? [])
        }
        floats.neuralNetwork?.layers[index] = layer
      }
      var options = CompileOptions()
      options.threads = 1
      options.inputShapes["in"] = input.shape
      let answers = try [model, floats].map {
        try CompiledNetwork(model: $0, options: options).predict(["in": input])["out"]
      }
      #expect(answers[0] != nil && answers[0] == answers[1], "\(name)")
    }
  }
}
