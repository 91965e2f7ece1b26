import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore
import TestSupport

@testable import KerasImport

/// Weights by layer, in order, with the names that Keras stores.
struct MemoryWeights: LayerWeights {
  struct Weight: Sendable {
    var name: String
    var shape: [Int]
    var values: [Float]

    /// Values that increase by quarters from `start`.
    init(_ name: String, _ shape: [Int], from start: Float = 0) {
      self.name = name
      self.shape = shape
      values = (0..<shape.reduce(1, *)).map { start + Float($0) / 4 }
    }

    init(_ name: String, values: [Float]) {
      self.name = name
      shape = [values.count]
      self.values = values
    }
  }

  var layers: [(name: String, weights: [Weight])]

  init(_ layers: KeyValuePairs<String, [Weight]>) {
    self.layers = layers.map { ($0.key, $0.value) }
  }

  var layerNames: [String] { layers.map(\.name) }

  func weights(of layer: String) throws -> [StoredWeight] {
    layers.first { $0.name == layer }?.weights.map { weight in
      StoredWeight(
        name: StoredWeight.shortName(weight.name, layer: layer), storedName: weight.name,
        shape: weight.shape, values: { FloatValues(weight.values).shaped(weight.shape) })
    } ?? []
  }
}

/// The parts of a converted model.
struct Converted {
  let result: ConversionResult

  var layers: [NeuralNetworkLayer] { result.model.neuralNetwork?.layers ?? [] }
  var names: [String] { layers.map(\.name) }
  var types: [String] { layers.map { $0.parameters.map { type(of: $0).typeName } ?? "" } }

  func layer<Parameters: LayerParameters>(_ name: String, as type: Parameters.Type) -> Parameters? {
    layers.first { $0.name == name }?.parameters as? Parameters
  }

  /// The parameters of the only layer.
  func only<Parameters: LayerParameters>(_ type: Parameters.Type) -> Parameters? {
    layers.count == 1 ? layers[0].parameters as? Parameters : nil
  }

  /// The shape of the feature with this name, or of the first one.
  private func shape(_ features: [FeatureDescription]?, _ name: String?) -> [Int]? {
    let feature = features?.first { name == nil || $0.name == name }
    guard case .multiArray(let array)? = feature?.type?.kind else { return nil }
    return array.shape
  }

  func inputShape(_ name: String? = nil) -> [Int]? { shape(result.model.description?.input, name) }
  func outputShape() -> [Int]? { shape(result.model.description?.output, nil) }

  func metadata(_ key: String) -> String? {
    result.model.description?.metadata?.userDefined[key]
  }
}

func source(
  _ json: String, version: String = "2.2.4", backend: String? = "tensorflow",
  _ weights: KeyValuePairs<String, [MemoryWeights.Weight]> = [:]
) throws -> KerasSource {
  try KerasSource(
    path: "model.h5", version: KerasVersion(text: version, backend: backend),
    configuration: JSONValue(parsing: json), weights: MemoryWeights(weights))
}

func convert(
  _ json: String, version: String = "2.2.4", backend: String? = "tensorflow",
  _ weights: KeyValuePairs<String, [MemoryWeights.Weight]> = [:],
  options: ConversionOptions = ConversionOptions()
) throws -> Converted {
  Converted(
    result: try KerasImporter.convert(
      source(json, version: version, backend: backend, weights), options: options))
}

/// A Sequential with one layer named `layer`.
func single(_ className: String, input: String, _ fields: String = "") -> String {
  """
  {"class_name": "Sequential", "config": {"name": "s", "layers": [{"class_name": "\(className)",
   "config": {"name": "layer", "batch_input_shape": \(input)\(fields.isEmpty ? "" : ", " + fields)}}]}}
  """
}

let fixtures = Fixtures("keras")
