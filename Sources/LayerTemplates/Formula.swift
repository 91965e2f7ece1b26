/// What classes compute whose formula is known.
enum Formula {
  /// x / (1 + exp(−β·x))
  case swish
  /// (x + 1) · 127.5
  case rescale
  /// Two rows and columns less at each border.
  case crop
  /// Not known.
  case none

  init(_ layerClass: LayerClass) {
    let weights = layerClass.layers.map(\.custom.blobs.count).max() ?? 0
    let hasOneInput = layerClass.layers.allSatisfy { $0.inputShapes.count == 1 }
    switch layerClass.name {
    case "Swish" where weights <= 1 && hasOneInput && Self.hasNumber(layerClass): self = .swish
    case "RescaleOutputLambda" where hasOneInput: self = .rescale
    case "ResCropBlockLambda" where hasOneInput: self = .crop
    default: self = .none
    }
  }

  private static func hasNumber(_ layerClass: LayerClass) -> Bool {
    guard let beta = layerClass.parameters.first(where: { $0.key == "beta" }) else { return true }
    return beta.kind == .float || beta.kind == .integer
  }

  /// Whether each output element follows from the input's element at the same place.
  var isElementwise: Bool {
    switch self {
    case .swish, .rescale, .none: true
    case .crop: false
    }
  }
}
