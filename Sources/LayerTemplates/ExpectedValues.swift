import ByteFormats
import CoreMLModel
import CustomLayers
import Engine
import TensorCore

/// Outputs of layers whose classes are built in, as expected values for a package's tests. The
/// inputs are small and the same every time.
enum ExpectedValues {
  /// The names and JSON texts of the files.
  static func files(for classes: [LayerClass]) -> [(name: String, text: String)] {
    let registry = CustomLayerRegistry()
    var result: [(String, String)] = []
    for layerClass in classes {
      for (index, layer) in layerClass.layers.prefix(4).enumerated() {
        guard let make = registry.factory(of: layer.custom) else { continue }
        if let text = try? text(layer, make) {
          result.append(("\(layerClass.typeName)-\(index + 1).json", text))
        }
      }
    }
    return result
  }

  private static func text(
    _ layer: LayerClass.Layer, _ make: CustomLayerRegistry.Factory
  ) throws -> String? {
    let weights = try layer.custom.blobs.map { try $0.customLayerWeight().bytes }
    guard weights.reduce(0, { $0 + $1.count }) <= 1 << 16 else { return nil }
    let shapes = layer.inputShapes.compactMap { $0.map(small) }
    guard shapes.count == layer.inputShapes.count, !shapes.isEmpty,
      shapes.allSatisfy({ $0.reduce(1, *) <= 1 << 14 })
    else { return nil }
    var generator = SplitMix64(seed: 1)
    let inputs = shapes.map { shape in
      Tensor(
        shape: shape,
        (0..<shape.reduce(1, *)).map { _ in Float.random(in: -4...4, using: &generator) })
    }
    let outputs = try layer.custom.answers(to: inputs, make)
    guard outputs.allSatisfy({ $0.elements.allSatisfy(\.isFinite) }) else { return nil }
    let parameters = layer.custom.parameters.sorted { $0.key < $1.key }
      .compactMap { key, value in value.flatMap(json).map { "\(JSONValue.quoted(key)): \($0)" } }
    let bytes = weights.map {
      "[\($0.array(of: UInt8.self).map(String.init).joined(separator: ","))]"
    }
    return """
      {
        "class": \(JSONValue.quoted(layer.custom.className)),
        "layer": \(JSONValue.quoted(layer.name)),
        "parameters": {\(parameters.joined(separator: ", "))},
        "weights": [\(bytes.joined(separator: ", "))],
        "inputs": [\(inputs.map(json).joined(separator: ", "))],
        "outputs": [\(outputs.map(json).joined(separator: ", "))]
      }

      """
  }

  /// The shape with rows and columns limited to different sizes, so that swapping them is noticed.
  private static func small(_ shape: [Int]) -> [Int] {
    guard shape.count >= 3 else { return shape }
    var shape = shape
    shape[shape.count - 2] = min(shape[shape.count - 2], 9)
    shape[shape.count - 1] = min(shape[shape.count - 1], 7)
    return shape
  }

  private static func json(_ tensor: Tensor) -> String {
    let values = tensor.elements.map { "\($0)" }.joined(separator: ",")
    return "{\"shape\": \(tensor.shape), \"values\": [\(values)]}"
  }

  private static func json(_ value: Custom.Value) -> String? {
    switch value {
    case .double(let value): value.isFinite ? "{\"double\": \(value)}" : nil
    case .string(let value): "{\"string\": \(JSONValue.quoted(value))}"
    case .int(let value): "{\"int\": \(value)}"
    case .long(let value): "{\"long\": \(value)}"
    case .bool(let value): "{\"bool\": \(value)}"
    }
  }
}
