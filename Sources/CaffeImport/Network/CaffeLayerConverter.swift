import ImportSupport
import TensorCore

/// What one type of Caffe layers becomes. One file a layer under `Layers/`, one line in
/// `CaffeLayerRegistry`.
protocol CaffeLayerConverter: Sendable {
  /// The names of the type, Caffe's own first, then those of forks.
  static var typeNames: [String] { get }
  static var documentation: DocumentationRow { get }
  /// Whether the layer does nothing when a network is run and is left out.
  static var vanishes: Bool { get }
  /// Where an input of the network that is bottom `index` has its axes in `[Seq, Batch, C, H, W]`; nil
  /// for the standard places.
  static func inputAxes(_ layer: CaffeLayer, bottom index: Int, shape: [Int]) -> [Int]?
  /// Adds Core ML layers to the network.
  ///
  /// - Parameter inputs: a tensor for each of the layer's bottoms.
  /// - Returns: a tensor for each of the layer's tops. Blobs are named after the tops where they can
  ///   be: `network.add(layer.name, …, to: layer.tops[0])`.
  /// - Throws: `layer.error(…)`, `layer.unsupported(…)`, or those of its parameters.
  static func convert(
    _ layer: CaffeLayer, inputs: [CaffeTensor], into network: inout CaffeNetworkWriter
  ) throws -> [CaffeTensor]
}

extension CaffeLayerConverter {
  static var vanishes: Bool { false }
  static func inputAxes(_ layer: CaffeLayer, bottom index: Int, shape: [Int]) -> [Int]? { nil }
}

/// A layer of one bottom and one top.
protocol SingleInputConverter: CaffeLayerConverter {
  /// Adds Core ML layers to the network, and returns the top.
  static func convert(
    _ layer: CaffeLayer, _ input: CaffeTensor, into network: inout CaffeNetworkWriter
  ) throws -> CaffeTensor
}

extension SingleInputConverter {
  static func convert(
    _ layer: CaffeLayer, inputs: [CaffeTensor], into network: inout CaffeNetworkWriter
  ) throws -> [CaffeTensor] {
    try layer.requireBottoms(1...1)
    return [try convert(layer, inputs[0], into: &network)]
  }
}
