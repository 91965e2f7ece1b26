import ImportSupport

/// A type of Caffe layer, with its conversion. Each is in a file of `Layers` and in
/// `CaffeLayerRegistry`.
struct CaffeLayerType: Sendable {
  /// The layer type: its name in BVLC Caffe first, then those in forks.
  let source: SourceLayer
  /// The positions in `[Seq, Batch, C, H, W]` for the axes of a network input that is a bottom of
  /// the layer; nil for the standard places.
  private(set) var inputAxes: InputAxes = { _, _, _ in nil }
  /// The batch axis of the tops if the interface omits the batch of a bottom; nil if the layer does
  /// not compute each item separately, so that the model needs the whole batch.
  private(set) var batchAxis: BatchAxis
  /// Adds Core ML layers to the network.
  let convert: Conversion

  typealias InputAxes = @Sendable (_ layer: LayerCall, _ bottom: Int, _ shape: [Int]) -> [Int]?
  typealias BatchAxis = @Sendable (LayerCall, OmittedBatch) throws -> Int?
  /// Returns a tensor for each of the layer's tops. If possible, blobs are named after the tops:
  /// `network.add(layer.name, …, to: layer.tops[0])`. Throws `layer.error(…)`,
  /// `layer.unsupported(…)`, or the errors of its parameters.
  typealias Conversion = @Sendable (LayerCall, inout CaffeWriter) throws -> [CaffeTensor]

  init(
    _ source: SourceLayer, batchAxis: @escaping BatchAxis = items, convert: @escaping Conversion
  ) {
    self.source = source
    self.batchAxis = batchAxis
    self.convert = convert
  }

  /// A layer with one bottom and one top, which `top` computes.
  static func single(
    _ source: SourceLayer, batchAxis: @escaping BatchAxis = items,
    top: @escaping @Sendable (LayerCall, inout CaffeWriter) throws -> CaffeTensor
  ) -> CaffeLayerType {
    CaffeLayerType(source, batchAxis: batchAxis) { layer, network in
      try layer.requireBottoms(1...1)
      return [try top(layer, &network)]
    }
  }

  /// Nil for a function that Caffe lacks.
  static func function(_ formula: ActivationFormula) -> CaffeLayerType? {
    formula.caffe.map { source in
      single(source, batchAxis: elements) { layer, network in
        let values = try formula.fields.map { message, name, standard in
          let parameters = layer.parameters(message)
          return try standard.map { try parameters.float(name, default: $0) }
            ?? parameters.float(name)
        }
        let names = ActivationNames(
          layer.name, prefix: layer.name + "_", suffix: "", output: layer.tops[0])
        return layer.input.with(network.add(formula, layer.input.blob, names, values))
      }
    }
  }

  func withInputAxes(_ axes: @escaping InputAxes) -> CaffeLayerType {
    var type = self
    type.inputAxes = axes
    return type
  }

  func withBatchAxis(_ axis: @escaping BatchAxis) -> CaffeLayerType {
    var type = self
    type.batchAxis = axis
    return type
  }

  // MARK: Batch axes

  /// Of a layer that computes each item separately.
  static let items: BatchAxis = { $0.sharesBatch && $1.axis == 0 ? 0 : nil }

  /// Of a layer that computes each element from the elements at the same index.
  static let elements: BatchAxis = { $0.sharesBatch ? $1.axis : nil }

  /// Of a layer that works along one axis only.
  static func besides(
    _ axis: @escaping @Sendable (LayerCall) throws -> Int
  ) -> BatchAxis {
    { layer, batch in
      let axis = try axis(layer)
      return layer.sharesBatch && batch.axis != axis ? batch.axis : nil
    }
  }

  static let wholeBatch: BatchAxis = { _, _ in nil }
}
