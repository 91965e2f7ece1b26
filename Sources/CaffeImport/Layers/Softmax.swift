import CoreMLModel
import ImportSupport

/// exp(x) / Σ exp(x) along an axis
enum SoftmaxLayer: SingleInputConverter {
  static let source = SourceLayer(
    "Softmax", becomes: "softmax, wrapped in permutes if the axis is not C", options: "`axis`, any"
  )

  static func batchAxis(_ layer: LayerCall, _ batch: OmittedBatch) throws -> Int? {
    layer.batch(batch, besides: try axis(layer))
  }

  private static func axis(_ layer: LayerCall) throws -> Int {
    try layer.input.axis(
      layer.parameters("softmax_param").int("axis"), "softmax_param.axis", of: layer)
  }

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
    return network.withChannels(layer.input, try axis(layer), layer) { network, moved, output in
      network.add(layer.name, Softmax(), [moved.blob], to: output)
    }
  }
}
