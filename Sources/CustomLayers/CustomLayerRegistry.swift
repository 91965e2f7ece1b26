import TensorCore

/// The implementations of custom layers that a network may use, by class name.
public struct CustomLayerRegistry: Sendable {
  private var types: [String: any (CustomLayer & SendableMetatype).Type] = [:]

  /// The built-in layers.
  public init() {
    for type in builtInCustomLayers { register(type) }
  }

  /// Adds a class, in place of one of the same name.
  public mutating func register(_ type: any (CustomLayer & SendableMetatype).Type) {
    types[type.className] = type
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
public let builtInCustomLayers: [any (CustomLayer & SendableMetatype).Type] = [
  Swish.self, RescaleOutputLambda.self, ResCropBlockLambda.self, FormulaLayer.self,
]
