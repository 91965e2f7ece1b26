import CoreMLModel
import Formulas
import ImportSupport

/// max(0, x) + a[c] · min(0, x)
enum PReLU: SingleInputConverter {
  static let source = SourceLayer("PReLU", becomes: "activation PReLU", options: "`channel_shared`")

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
    let input = layer.input
    try layer.require(input.shape.count >= 2, "its bottom \(input.shapeText) has no channel axis")
    let isShared = try layer.parameters("prelu_param").bool("channel_shared")
    let alpha = Weights(
      try layer.vector(0, "alpha", count: isShared ? 1 : input.shape[1]))
    return network.withChannels(input, 1, layer) { network, moved, output in
      network.add(layer.name, Activation(.prelu(alpha: alpha)), [moved.blob], to: output)
    }
  }
}

extension CaffeWriter {
  /// Moves Caffe's axis `axis` to Core ML's channel axis for `body`, which keeps shapes, and back
  /// afterward.
  mutating func withChannels(
    _ tensor: CaffeTensor, _ axis: Int, _ layer: LayerCall,
    _ body: (inout CaffeWriter, CaffeTensor, String?) throws -> String
  ) rethrows -> CaffeTensor {
    let input = five(tensor, for: layer.name)
    let moved = placed(input, axis: axis, in: Placement.channel, for: layer.name)
    let isUnmoved = moved.blob == input.blob
    let result = moved.with(try body(&self, moved, isUnmoved ? layer.tops[0] : nil))
    return isUnmoved ? result : placed(result, axes: input.axes, for: layer.part("back"))
  }
}
