import ByteFormats
import CoreMLModel
import CustomLayers
import ModelPrediction
import TensorCore

/// The contents of a network that `inspect` shows: every layer with its shapes and sizes, and the
/// totals.
public struct Inspection: Sendable {
  /// A layer of the document.
  public struct Layer: Sendable {
    /// The name in the document; inside a nested network, after the surrounding layer and its
    /// field.
    public let name: String
    /// The type in the specification, or the class of a custom layer.
    public let type: String
    /// The blobs that it reads.
    public let inputs: [String]
    /// The blobs that it writes.
    public let outputs: [String]
    /// The fields of its parameters without weights, each with a value of its type.
    package let attributes: JSONObject
    /// The weights, in whatever form the document stores them.
    package let weights: [NamedWeights]
    /// The input shapes, `[Seq, Batch, C, H, W]` or exact; nil if a custom layer's class or a
    /// flexible size leaves one unknown.
    public let inputShapes: [[Int]?]
    /// The output shapes, in the same form.
    public let outputShapes: [[Int]?]
    /// The number of values in its weights.
    public let parameterCount: Int
    /// Multiplications with a weight, for one prediction.
    public let multiplyAdds: Int
  }

  /// A custom layer and the class that computes it.
  public struct CustomClass: Sendable {
    /// The layer's name.
    public let layer: String
    /// The class name.
    public let className: String
    /// The description in the document.
    public let description: String
    /// The parameters in the order of their names, each value with its type.
    public let parameters: [(name: String, value: String)]
    /// The same parameters as JSON; null if unset.
    package let values: [(name: String, value: JSONValue)]
    /// The number of values in each weight.
    public let weightCounts: [Int]
    /// Whether an implementation exists.
    public let isProvided: Bool
    /// The plug-in file that contains it; nil for a built-in class.
    public let plugin: String?
  }

  /// The layers, in the document's order.
  public let layers: [Layer]
  /// One entry for each custom layer.
  public let customClasses: [CustomClass]
  /// The storage formats of the weights, such as `float32`, in ascending order.
  public let weightTypes: [String]
  /// The number of trainable parameters, if the source states it.
  public let trainableCount: Int?

  /// The number of parameters in all layers.
  public var parameterCount: Int { layers.reduce(0) { $0 + $1.parameterCount } }
  /// The multiply-adds of all layers.
  public var multiplyAdds: Int { layers.reduce(0) { $0 + $1.multiplyAdds } }

  /// The contents of `model`; `customLayers` compute the shapes of their outputs.
  public init(_ model: Model, customLayers: CustomLayerRegistry = CustomLayerRegistry()) {
    var parts = Parts(customLayers: customLayers)
    if let network = model.neuralNetwork {
      parts.add(network, model.inferredShapes(customLayers), inside: "")
    }
    layers = parts.layers
    customClasses = parts.customClasses
    weightTypes = parts.weightTypes.sorted()
    trainableCount = model.description?.metadata?.userDefined["assay.trainable"].flatMap { Int($0) }
  }

  fileprivate static func customClass(
    _ custom: Custom, layer: String, _ customLayers: CustomLayerRegistry
  ) -> CustomClass {
    CustomClass(
      layer: layer, className: custom.className, description: custom.classDescription,
      parameters: custom.parameters.sorted { $0.key < $1.key }
        .map { ($0.key, $0.value.map(Self.text) ?? "unset") },
      values: custom.parameters.sorted { $0.key < $1.key }
        .map { ($0.key, $0.value.map(Self.value) ?? .null) },
      weightCounts: custom.weights.map { $0.shape.reduce(1, *) },
      isProvided: customLayers.factory(of: custom) != nil,
      plugin: customLayers.plugins[custom.className])
  }

  private static func value(_ value: Custom.Value) -> JSONValue {
    switch value {
    case .double(let number): .double(number)
    case .string(let text): .string(text)
    case .int(let number): .int(Int(number))
    case .long(let number): .int(Int(number))
    case .bool(let flag): .bool(flag)
    }
  }

  private static func text(_ value: Custom.Value) -> String {
    let text = if case .string = value { "\"\(value)\"" } else { "\(value)" }
    return "\(text) (\(value.typeName))"
  }
}

/// The layers of a network and of the networks inside its layers.
private struct Parts {
  let customLayers: CustomLayerRegistry
  var layers: [Inspection.Layer] = []
  var customClasses: [Inspection.CustomClass] = []
  var weightTypes: Set<String> = []

  /// - Parameter location: what precedes the layers' names: the layer around them and its field.
  mutating func add(_ network: NeuralNetwork, _ inferred: InferredShapes, inside location: String) {
    let attributes = (try? network.layerAttributes()) ?? []
    for (index, layer) in network.layers.enumerated() {
      add(
        layer, inferred.shapes, index < attributes.count ? attributes[index] : JSONObject(),
        inside: location)
      guard let control = layer.parameters as? any ControlLayer else { continue }
      let inside = inferred.inside[index] ?? []
      for (number, network) in control.networks.enumerated() {
        add(
          network, number < inside.count ? inside[number] : InferredShapes(),
          inside: "\(location)\(layer.label(at: index))/\(control.fieldName(number))/")
      }
    }
  }

  private mutating func add(
    _ layer: NeuralNetworkLayer, _ shapes: [String: [Int]], _ attributes: JSONObject,
    inside location: String
  ) {
    let inputs = layer.input.map { shapes[$0] }
    let outputs = layer.output.map { shapes[$0] }
    let weights = layer.parameters?.weights ?? []
    for weight in weights { if let type = weight.values.storageName { weightTypes.insert(type) } }
    let custom = layer.parameters as? Custom
    if let custom {
      customClasses.append(
        Inspection.customClass(custom, layer: location + layer.name, customLayers))
    }
    let known = (inputs + outputs).compactMap(\.self)
    let count =
      known.count == inputs.count + outputs.count
      ? layer.parameters?.multiplyAdds(
        Array(known[..<inputs.count]), Array(known[inputs.count...])) : nil
    layers.append(
      Inspection.Layer(
        name: location + layer.name,
        type: custom?.className ?? layer.parameters?.typeName ?? "unknown",
        inputs: layer.input, outputs: layer.output,
        // A custom layer's parameters are listed with its class.
        attributes: custom == nil ? attributes : JSONObject(),
        weights: weights,
        inputShapes: inputs, outputShapes: outputs,
        parameterCount: weights.reduce(0) { $0 + $1.shape.reduce(1, *) }, multiplyAdds: count ?? 0))
  }
}

extension ControlLayer {
  /// The name of the field with the network at `index`.
  fileprivate func fieldName(_ index: Int) -> String {
    switch self {
    case let branch as Branch:
      index == 0 && branch.ifBranch != nil ? "ifBranch" : "elseBranch"
    case let loop as Loop:
      index == 0 && loop.conditionNetwork != nil ? "conditionNetwork" : "bodyNetwork"
    default: "\(index + 1)"
    }
  }
}

extension Model {
  /// The oldest systems that load a model of its version; nil if the version is unknown.
  public var oldestSystem: String? { SpecificationVersion.oldestSystem(specificationVersion) }

  /// The blobs' shapes, with sequences of the length that the source framework uses.
  func inferredBlobShapes(
    _ customLayers: CustomLayerRegistry = CustomLayerRegistry()
  ) -> [String: [Int]] {
    inferredShapes(customLayers).shapes
  }

  fileprivate func inferredShapes(_ customLayers: CustomLayerRegistry) -> InferredShapes {
    let inputs = Dictionary(
      first: (description?.input ?? []).compactMap { input in
        typicalShape(of: input).map { (input.name, $0) }
      })
    let inferred = neuralNetwork?.inferredShapes(
      inputs: inputs, custom: customLayers.outputShapes(of:_:))
    return inferred ?? InferredShapes(shapes: inputs)
  }
}

extension Weights {
  /// The name of the storage that holds the values.
  package var storageName: String? {
    if floatValue.count > 0 { return "float32" }
    if float16Value.count > 0 { return "float16" }
    if rawValue.count > 0 { return "\(quantization?.numberOfBits ?? 0) bits" }
    if int8RawValue.count > 0 { return "int8" }
    return nil
  }
}
