import TensorCore

/// The implementations of custom layers that a network may use, by class name.
public struct CustomLayerRegistry: Sendable {
  private var types: [String: any (CustomLayer & SendableMetatype).Type] = [:]

  /// The built-in layers.
  public init() {
    for type in builtInCustomLayers { register(type) }
  }

  /// Adds a class under all of its names, in place of those that had them.
  public mutating func register(_ type: any (CustomLayer & SendableMetatype).Type) {
    for name in [type.className] + type.otherNames { types[name] = type }
  }

  /// The implementation of the class, if somebody provides it.
  public subscript(className: String) -> (any CustomLayer.Type)? { types[className] }

  public var classNames: [String] { types.keys.sorted() }

  /// One error for all classes that nobody provides.
  ///
  /// - Parameter missing: the names of the layers that need each class.
  public func notFound(_ missing: [String: [String]]) -> ModelError {
    let classes = missing.keys.sorted()
    let message = classes.map { name in
      let layers = (missing[name] ?? []).map { "'\($0)'" }.joined(separator: ", ")
      return "a custom layer implementation named '\(name)' (of layer \(layers)) was not found"
    }
    return ModelError(
      .unsupported, message.joined(separator: "; "),
      hint: "register a type that conforms to CustomLayer under that class name; built in are "
        + classNames.joined(separator: ", "))
  }
}

/// The layers that need no registration. One file each.
public let builtInCustomLayers: [any (BuiltInCustomLayer & SendableMetatype).Type] = [
  Swish.self, HardSwish.self, Mish.self, GELU.self, InstanceNormalization.self,
  GroupNormalization.self, L2Normalization.self, Softmax.self, SpaceToDepth.self,
  DepthToSpace.self, Resize.self, GridSample.self, DeformableConvolution.self,
  RescaleOutputLambda.self, ResCropBlockLambda.self, KrakenReshape.self, KrakenAddition.self,
  Identity.self, DeformedColumns.self, RowProduct.self, LeastSquares.self,
]
