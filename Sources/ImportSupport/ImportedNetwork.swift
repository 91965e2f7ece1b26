import CoreMLModel

/// A network as an importer hands it over, before the user's options shape its interface.
public struct ImportedNetwork: Sendable {
  public var inputs: [ImportedFeature] = []
  public var outputs: [ImportedFeature] = []
  public var layers: [NeuralNetworkLayer] = []
  /// Framework and version, such as `Keras 2.2.4`.
  public var source: String
  /// Whether the features have exact ranks; otherwise Core ML's five axes stand behind them.
  public internal(set) var isExact = false
  /// Where the source says it.
  public var trainableParameterCount: Int?

  public init(source: String) { self.source = source }
}

/// An input or output of an imported network.
public struct ImportedFeature: Sendable {
  /// The blob's name.
  public var name: String
  /// `(C)` or `(C, H, W)`.
  public var shape: [Int]
  /// The source framework's axes, such as `NHWC`.
  public var layout: String
  /// Sizes along the axes of `layout`; nil where the source leaves one open.
  public var sourceShape: [Int?] = []
  public var isOptional = false
  /// A recurrent layer's state, whose type the user does not choose.
  public var isState = false

  public init(name: String, shape: [Int], layout: String) {
    self.name = name
    self.shape = shape
    self.layout = layout
  }
}

extension ImportedFeature {
  /// A recurrent layer's state; the model works without it.
  public static func state(_ name: String, units: Int, isInput: Bool) -> ImportedFeature {
    var feature = ImportedFeature(name: name, shape: [units], layout: "NC")
    feature.isState = true
    feature.isOptional = isInput
    return feature
  }
}

/// What a layer of the source becomes.
public struct PlanEntry: Sendable, Equatable {
  public var layer: String
  public var layerClass: String
  /// The Core ML layers, each as `type 'name'`; empty where the layer vanishes.
  public var becomes: [String]

  public init(layer: String, layerClass: String, becomes: [String]) {
    self.layer = layer
    self.layerClass = layerClass
    self.becomes = becomes
  }
}

public struct ConversionResult: Sendable {
  public var model: Model
  public var plan: [PlanEntry]
  /// What the user should know: assumptions and options without effect.
  public var notes: [String]

  public init(model: Model, plan: [PlanEntry], notes: [String]) {
    self.model = model
    self.plan = plan
    self.notes = notes
  }
}
