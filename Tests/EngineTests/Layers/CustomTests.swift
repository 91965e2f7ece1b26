import CoreMLModel
import CustomLayers
import TensorCore
import TestSupport

extension Custom: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [[1, 1, 5, 3, 7], [2, 3, 17, 2, 3]].map { shape in
      var layer = Custom()
      layer.className = TwiceAndNegated.className
      layer.parameters = ["offset": .double(0.5)]
      layer.blobs = [random.weights(shape[2])]
      return LayerTrial("\(shape)", layer, [shape])
    }
  }
}

/// Two outputs: weight[c] · 2x + offset, and −x.
final class TwiceAndNegated: CustomLayer {
  static let className = "TwiceAndNegated"

  private let offset: Float
  private var weights: [Float] = []

  init(parameters: [String: CustomLayerParameter]) throws {
    offset = parameters["offset"]?.floatValue ?? 0
  }

  func setWeightData(_ weights: [Bytes]) throws {
    self.weights = try weights.first.map { try FloatValues(bytes: $0).array() } ?? []
    if self.weights.isEmpty {
      throw ModelError(.malformed, "the weights are missing", field: "weights")
    }
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    inputShapes + inputShapes
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    let plane = inputs[0].shape[3] * inputs[0].shape[4]
    for (index, x) in inputs[0].elements.enumerated() {
      outputs[0].elements[index] = weights[index / plane % weights.count] * 2 * x + offset
      outputs[1].elements[index] = -x
    }
  }
}
