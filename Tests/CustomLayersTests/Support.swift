import Foundation
import TensorCore
import TestSupport

@testable import CustomLayers

/// Creates, queries and runs built-in layers.
enum LayerRun {
  static func type(_ name: String) throws -> any (BuiltInCustomLayer & SendableMetatype).Type {
    guard
      let type = builtInCustomLayers.first(where: {
        $0.className == name || $0.otherNames.contains(name)
      })
    else { throw ModelError(.unsupported, "no built-in class \(name)") }
    return type
  }

  static func make(
    _ name: String, _ parameters: [String: CustomLayerParameter] = [:],
    _ weights: [CustomLayerWeight] = []
  ) throws -> any CustomLayer {
    var parameters = parameters
    parameters["engineName"] = .string(name)
    let layer = try type(name).init(parameters: parameters)
    try layer.setWeights(weights)
    return layer
  }

  static func run(_ layer: any CustomLayer, _ inputs: [CaseTensor]) throws -> [CaseTensor] {
    var outputs = try layer.outputShapes(forInputShapes: inputs.map(\.shape)).map {
      CaseTensor(shape: $0, values: [Float](repeating: .nan, count: $0.reduce(1, *)))
    }
    let buffers = inputs.map { input in
      let buffer = UnsafeMutableBufferPointer<Float>.allocate(capacity: input.values.count)
      _ = buffer.initialize(from: input.values)
      return buffer
    }
    let targets = outputs.map { output in
      let buffer = UnsafeMutableBufferPointer<Float>.allocate(capacity: output.values.count)
      buffer.initialize(repeating: .nan)
      return buffer
    }
    defer { for buffer in buffers + targets { buffer.deallocate() } }
    try layer.evaluate(
      inputs: zip(inputs, buffers).map {
        CustomLayerInput(shape: $0.shape, elements: UnsafeBufferPointer($1))
      },
      outputs: zip(outputs, targets).map { CustomLayerOutput(shape: $0.shape, elements: $1) })
    for (index, target) in targets.enumerated() { outputs[index].values = Array(target) }
    return outputs
  }
}

extension SplitMix64 {
  mutating func array(_ shape: [Int]) -> CaseTensor {
    CaseTensor(shape: shape, values: values(shape.reduce(1, *), in: -2...2))
  }
}
