import ImportSupport

/// What one type of Caffe layers becomes. One file a layer under `Layers/`, one line in
/// `CaffeLayerRegistry`.
protocol CaffeLayerConverter: Sendable {
  /// The type: Caffe's own name first, then those of forks.
  static var source: SourceLayer { get }
  /// Where an input of the network that is bottom `index` has its axes in `[Seq, Batch, C, H, W]`; nil
  /// for the standard places.
  static func inputAxes(_ layer: CaffeLayer, bottom index: Int, shape: [Int]) -> [Int]?
  /// Adds Core ML layers to the network.
  ///
  /// - Returns: a tensor for each of the layer's tops. Blobs are named after the tops where they can
  ///   be: `network.add(layer.name, …, to: layer.tops[0])`.
  /// - Throws: `layer.error(…)`, `layer.unsupported(…)`, or those of its parameters.
  static func convert(_ layer: CaffeLayer, _ network: inout CaffeNetwork) throws -> [CaffeTensor]
}

extension CaffeLayerConverter {
  static func inputAxes(_ layer: CaffeLayer, bottom index: Int, shape: [Int]) -> [Int]? { nil }
}

/// A layer of one bottom and one top.
protocol SingleInputConverter: CaffeLayerConverter {
  /// Adds Core ML layers to the network, and returns the top.
  static func top(of layer: CaffeLayer, _ network: inout CaffeNetwork) throws -> CaffeTensor
}

extension SingleInputConverter {
  static func convert(_ layer: CaffeLayer, _ network: inout CaffeNetwork) throws -> [CaffeTensor] {
    try layer.requireBottoms(1...1)
    return [try top(of: layer, &network)]
  }
}
