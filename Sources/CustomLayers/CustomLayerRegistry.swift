import TensorCore

/// The custom layer classes that a network may use, by name.
public struct CustomLayerRegistry: Sendable {
  /// Creates a layer from its parameters, like `CustomLayer.init(parameters:)`.
  public typealias Factory =
    @Sendable (_ parameters: [String: CustomLayerParameter]) throws -> any CustomLayerImplementation

  private var factories: [String: Factory] = [:]
  /// The plug-in files of classes, by class name.
  public private(set) var plugins: [String: String] = [:]

  /// Creates a registry of the built-in layers.
  public init() { self = Self.builtIn }

  private init(_ types: [any (CustomLayer & SendableMetatype).Type]) {
    for type in types { register(type) }
  }

  private static let builtIn = CustomLayerRegistry(builtInCustomLayers)

  /// Adds a class under all of its names, replacing classes with these names.
  public mutating func register(_ type: any (CustomLayer & SendableMetatype).Type) {
    for name in [type.className] + type.otherNames {
      register(name) { try type.init(parameters: $0) }
    }
  }

  /// Adds a class whose layers `factory` creates, replacing a class of the same name.
  ///
  /// - Parameter plugin: the plug-in file that contains the class.
  public mutating func register(
    _ className: String, plugin: String? = nil, _ factory: @escaping Factory
  ) {
    factories[className] = factory
    plugins[className] = plugin
  }

  /// The factory of a class; nil if there is no such class.
  public subscript(className: String) -> Factory? { factories[className] }

  /// The names of all classes, sorted.
  public var classNames: [String] { factories.keys.sorted() }

  /// One error for all missing classes.
  ///
  /// - Parameter missing: the names of the layers that need each class.
  package func notFound(_ missing: [String: [String]]) -> ModelError {
    let classes = missing.keys.sorted()
    let message = classes.map { name in
      let layers = (missing[name] ?? []).map { "'\($0)'" }.joined(separator: ", ")
      return "a custom layer implementation named '\(name)' (of layer \(layers)) was not found"
    }
    let similar = Set(classes.flatMap { NameDistance.nearest(to: $0, among: classNames) })
    let hint = similar.isEmpty ? "" : "; similar names: " + similar.sorted().joined(separator: ", ")
    return ModelError(
      .unsupported, message.joined(separator: "; "),
      hint:
        "load a library with \(setting: "plugin") FILE, start one with `assay plugin new`, or "
        + "list the available classes with `assay plugin list`" + hint)
  }
}

/// The custom layers that need no registration.
package let builtInCustomLayers: [any (BuiltInCustomLayer & SendableMetatype).Type] = [
  Swish.self, ElementwiseCustomLayer<HardSwishDefinition>.self,
  ElementwiseCustomLayer<MishDefinition>.self,
  ElementwiseCustomLayer<GELUDefinition>.self, InstanceNormalization.self,
  GroupNormalization.self, L2Normalization.self, Softmax.self, SpaceToDepth.self,
  DepthToSpace.self, Resize.self, GridSample.self, DeformableConvolution.self,
  RegionMaxima.self, RegionAlign.self, PositionSensitivePooling.self, Proposal.self,
  ImResize.self,
  ElementwiseCustomLayer<RescaleOutputDefinition>.self, ResCropBlockLambda.self, KrakenReshape.self,
  KrakenAddition.self,
  ElementwiseCustomLayer<IdentityDefinition>.self, DeformedColumns.self, RowProduct.self,
  LeastSquares.self,
  FormulaLayer.self,
]
