/// What classes compute whose formula is known.
enum Formula {
  /// x / (1 + exp(−β·x))
  case swish
  /// (x + 1) · 127.5
  case rescale
  /// Two rows and columns less at each border.
  case crop
  /// What expressions say: the layers' own, or that of a class of elements.
  case expressions([ClassExpression])
  /// Not known.
  case none

  init(_ layerClass: LayerClass) {
    let weights = layerClass.layers.map(\.custom.blobs.count).max() ?? 0
    let hasOneInput = layerClass.layers.allSatisfy { $0.inputShapes.count == 1 }
    switch layerClass.name {
    case "Swish" where weights <= 1 && hasOneInput && Self.hasNumber(layerClass): self = .swish
    case "RescaleOutputLambda" where hasOneInput: self = .rescale
    case "ResCropBlockLambda" where hasOneInput: self = .crop
    default: self = ClassExpression.all(of: layerClass).map(Formula.expressions) ?? .none
    }
  }

  private static func hasNumber(_ layerClass: LayerClass) -> Bool {
    guard let beta = layerClass.parameters.first(where: { $0.key == "beta" }) else { return true }
    return beta.kind == .float || beta.kind == .integer
  }

  /// Whether each output element follows from the input's element at the same place.
  var isElementwise: Bool {
    switch self {
    case .swish, .rescale: true
    case .expressions(let all): all.count == 1 && all[0].weights.isEmpty && all[0].metal != nil
    case .crop, .none: false
    }
  }

  /// Whether the class computes with `FormulaArray`.
  var needsArrays: Bool { if case .expressions = self { true } else { false } }
}
