/// A layer whose kernel was divided by its largest singular value while it was trained.
struct SpectralNormalization: KerasLayer {
  static let classNames = ["SpectralNormalization"]

  private let inner: any KerasLayer

  init(_ configuration: LayerConfiguration) throws {
    (inner, _) = try configuration.wrappedLayer()
  }

  var weights: [WeightSlot] {
    inner.weights.filter(\.isTrainable)
      + [WeightSlot("vector_u", isTrainable: false)] + inner.weights.filter { !$0.isTrainable }
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    // Archives keep the layer's own vector first, HDF5 files what was trained.
    var call = call
    if let first = call.weights.first, first.storedName.hasPrefix("vars/") {
      let rest = zip(inner.weights, call.weights.dropFirst()).map { slot, weight in
        var weight = weight
        weight.name = slot.name
        return weight
      }
      call = call.with(name: call.name, inputs: call.inputs, weights: rest)
    }
    return try inner.convert(call, into: &network)
  }
}
