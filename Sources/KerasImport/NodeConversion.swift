import ByteFormats
import ImportSupport
import TensorCore

/// What converts a node.
enum NodeConversion {
  case known(any KerasLayer)
  case custom(CustomConversion)
  case python(PythonConversion)

  /// The formula that the layer becomes.
  var formula: String? {
    switch self {
    case .known: nil
    case .custom(let custom): custom.rule?.formula?.expression.description
    case .python(let python): python.formula?.text
    }
  }

  /// The weights of the layer and, behind them, of a layer that is its activation.
  func slots(_ fields: JSONObject, _ version: KerasVersion) -> [WeightSlot]? {
    guard case .known(let layer) = self, type(of: layer).hasKnownWeights else { return nil }
    let activation = fields["activation"]
    guard let className = activation?["class_name"]?.string,
      let type = version.layerType(className), type.hasKnownWeights,
      let inner = try? type.init(
        LayerConfiguration(
          name: className, className: className, fields: activation?["config"]?.object ?? .init(),
          version: version))
    else { return layer.weights }
    return layer.weights
      + inner.weights.map { WeightSlot("activation/\($0.name)", isTrainable: $0.isTrainable) }
  }
}

extension LayerRefusal {
  /// What a rule for a layer with these weights can use.
  init(_ error: ModelError, _ layer: ModelDefinition.Layer, _ weights: [StoredWeight]) {
    self.init(error)
    for member in layer.fields.members where !CustomConversion.bookkeeping.contains(member.name) {
      configuration[member.name] = member.value
    }
    self.weights = weights.map { StoredWeight.shortName($0.storedName, layer: layer.name) }
  }
}

extension KerasTensor {
  /// The tensor with the shape that it is taken to have, so that layers behind it can be planned.
  var assumed: KerasTensor {
    var tensor = self
    tensor.isShapeAssumed = false
    return tensor
  }
}
