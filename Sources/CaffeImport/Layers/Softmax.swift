import CoreMLModel
import ImportSupport

/// exp(x) / Σ exp(x) along an axis
enum SoftmaxLayer: SingleInputConverter {
  static let source = SourceLayer(
    "Softmax", becomes: "softmax, wrapped in permutes if the axis is not C", options: "`axis`, any"
  )

  static func top(of layer: CaffeLayer, _ network: inout CaffeNetwork) throws -> CaffeTensor {
    let axis = try layer.input.axis(
      layer.parameters("softmax_param").int("axis"), "softmax_param.axis", of: layer)
    return network.withChannels(layer.input, axis, layer) { network, moved, output in
      network.add(layer.name, Softmax(), [moved.blob], to: output)
    }
  }
}
