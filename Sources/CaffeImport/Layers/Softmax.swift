import CoreMLModel
import ImportSupport

/// exp(x) / Σ exp(x) along an axis
enum SoftmaxLayer: SingleInputConverter {
  static let typeNames = ["Softmax"]
  static let documentation = DocumentationRow(
    "softmax, permutes round it where the axis is not C", options: "`axis`, any")

  static func convert(
    _ layer: CaffeLayer, _ input: CaffeTensor, into network: inout CaffeNetworkWriter
  ) throws -> CaffeTensor {
    let axis = try input.axis(
      layer.parameters("softmax_param").int("axis"), "softmax_param.axis", of: layer)
    return network.withChannels(input, axis, layer) { network, moved, output in
      network.add(layer.name, Softmax(), [moved.blob], to: output)
    }
  }
}
