/// What converts a node.
enum LayerHandler {
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

  var slots: [WeightSlot]? {
    if case .known(let layer) = self, type(of: layer).hasKnownWeights {
      layer.weights
    } else {
      nil
    }
  }
}
