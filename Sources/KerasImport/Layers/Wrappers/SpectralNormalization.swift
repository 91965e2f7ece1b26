import ImportSupport

/// A wrapped layer whose kernel was divided by its largest singular value during training.
enum SpectralNormalization: KerasLayer {
  static let classes = [SourceLayer](
    "SpectralNormalization", becomes: "the wrapped layer: the stored kernel is already normalized"
  )

  /// Archives store the kernel twice, HDF5 files once.
  static let hasKnownWeights = false

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let (inner, _) = try configuration.wrappedLayer()
    return conversion(inner.weights) { call, network in
      let ofInner = call.weights.filter { $0.storedName.hasPrefix("layer/") }
      let stored = ofInner.isEmpty ? call.weights : ofInner
      try call.require(
        stored.count >= inner.weights.count, "the file has \(stored.count) weights for it")
      let weights = zip(inner.weights, stored).map { slot, weight in
        var weight = weight
        weight.name = slot.name
        return weight
      }
      return try inner.convert(
        call.with(name: call.name, inputs: call.inputs, weights: weights), &network)
    }
  }
}
