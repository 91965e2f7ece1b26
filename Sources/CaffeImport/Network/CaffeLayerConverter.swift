import ImportSupport

/// The conversion of one type of Caffe layer. Each has a file in `Layers/` and a line in
/// `CaffeLayerRegistry`.
protocol CaffeLayerConverter: Sendable {
  /// The layer type: its name in BVLC Caffe first, then those in forks.
  static var source: SourceLayer { get }
  /// The positions in `[Seq, Batch, C, H, W]` for the axes of a network input that is bottom `index`;
  /// nil for the standard places.
  static func inputAxes(_ layer: LayerCall, bottom index: Int, shape: [Int]) -> [Int]?
  /// The batch axis of the tops if the interface omits the batch of a bottom; nil if the layer does
  /// not compute each item separately, so that the model needs the whole batch.
  static func batchAxis(_ layer: LayerCall, _ batch: OmittedBatch) throws -> Int?
  /// Adds Core ML layers to the network.
  ///
  /// - Returns: a tensor for each of the layer's tops. If possible, blobs are named after the tops:
  ///   `network.add(layer.name, …, to: layer.tops[0])`.
  /// - Throws: `layer.error(…)`, `layer.unsupported(…)`, or the errors of its parameters.
  static func convert(_ layer: LayerCall, _ network: inout CaffeWriter) throws -> [CaffeTensor]
}

extension CaffeLayerConverter {
  static func inputAxes(_ layer: LayerCall, bottom index: Int, shape: [Int]) -> [Int]? { nil }

  static func batchAxis(_ layer: LayerCall, _ batch: OmittedBatch) throws -> Int? {
    layer.sharesBatch && batch.axis == 0 ? 0 : nil
  }
}

/// A layer with one bottom and one top.
protocol SingleInputConverter: CaffeLayerConverter {
  /// Adds Core ML layers to the network, and returns the top.
  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor
}

extension SingleInputConverter {
  static func convert(_ layer: LayerCall, _ network: inout CaffeWriter) throws -> [CaffeTensor] {
    try layer.requireBottoms(1...1)
    return [try top(of: layer, &network)]
  }
}
