import CoreMLModel
import ImportSupport
import TensorCore
import TestSupport

@testable import DarknetFormat
@testable import DarknetImport

let fixtures = Fixtures("darknet/layers")

/// Converts a network from text, with random weights unless some are given.
func convert(
  _ text: String, weights: [UInt8]? = nil, options: ConversionOptions = ConversionOptions()
) throws -> ConversionResult {
  var options = options
  if weights == nil { options.missingWeights = .random(RandomWeights(seed: 1)) }
  let bytes = weights.map { Bytes($0) }
  return try DarknetImporter.convert(
    DarknetSource(
      path: "m.cfg", configuration: try ConfigurationFile(Bytes(Array(text.utf8))),
      weights: try bytes.map { try WeightsFile($0, path: "m.weights") }, weightBytes: bytes,
      trees: [:]),
    options: options)
}

/// A header of version 0.2 and `count` values, each equal to its index.
func weightBytes(_ count: Int, header: [UInt32] = [0, 2, 0, 640, 0]) -> [UInt8] {
  let numbers = (0..<count).map { Float($0).bitPattern }
  return (header + numbers).flatMap { word in
    (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) }
  }
}

extension ConversionResult {
  var layers: [NeuralNetworkLayer] { model.neuralNetwork?.layers ?? [] }
}
