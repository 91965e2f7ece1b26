import ByteFormats
import ImportSupport
import TensorCore

/// The conversion of a node.
enum NodeConversion {
  case known(ConfiguredLayer)
  case custom(CustomConversion)
  case python(PythonConversion)

  /// The formula that replaces the layer, if any.
  var formula: String? {
    switch self {
    case .known: nil
    case .custom(let custom): custom.rule?.formula?.expression.description
    case .python(let python): python.formula?.text
    }
  }

  /// The layer's weights, followed by those of a layer that is its activation.
  func slots(_ fields: JSONObject, _ version: KerasVersion) -> [WeightSlot]? {
    guard case .known(let layer) = self, layer.type.hasKnownWeights else { return nil }
    let activation = fields["activation"]
    guard let className = activation?["class_name"]?.string,
      let type = version.layerType(className), type.hasKnownWeights,
      let inner = try? type.configured(
        LayerConfiguration(
          name: className, className: className, fields: activation?["config"]?.object ?? .init(),
          version: version))
    else { return layer.weights }
    return layer.weights
      + inner.weights.map { WeightSlot("activation/\($0.name)", isTrainable: $0.isTrainable) }
  }
}

extension LayerRefusal {
  /// Records the settings and weights that a rule for the layer can use.
  init(_ error: ModelError, _ layer: ModelDefinition.Layer, _ weights: [StoredWeight]) {
    self.init(error)
    for member in layer.fields.members where !CustomConversion.bookkeeping.contains(member.name) {
      configuration[member.name] = member.value
    }
    self.weights = weights.map { StoredWeight.shortName($0.storedName, layer: layer.name) }
  }
}

extension KerasTensor {
  /// The tensor with its assumed shape treated as known, so that later layers can be planned.
  var assumed: KerasTensor {
    var tensor = self
    tensor.isShapeAssumed = false
    return tensor
  }
}
