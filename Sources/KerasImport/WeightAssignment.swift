import ImportSupport
import TensorCore

extension StoredWeight {
  /// A remark if values have more digits than single precision keeps.
  func rounding(in layer: ModelDefinition.Layer) -> String? {
    guard let wideType, let numbers = try? values().array(),
      numbers.contains(where: { $0.magnitude >= 0x1p24 })
    else { return nil }
    return "layer '\(layer.name)' (\(layer.className)): the weight '\(storedName)' is \(wideType); "
      + "of its values from ±2²⁴ on, single precision keeps 24 bits"
  }
}

/// The stored weights of each layer.
struct WeightAssignment: Sendable {
  var weights: [ObjectIdentifier: [StoredWeight]] = [:]
  /// How layers and weights were matched.
  var method = "by name"
  /// Other notes for the user.
  var notes: [String] = []

  private var problems: [ModelError] = []

  /// Stores the weights of a layer under the names by which the layer requests them.
  /// - Parameter slots: nil if only the file determines their number.
  mutating func assign(
    _ stored: [StoredWeight], to layer: ModelDefinition.Layer, slots: [WeightSlot]?
  ) {
    notes += stored.compactMap { $0.rounding(in: layer) }
    guard let slots else {
      weights[ObjectIdentifier(layer)] = stored
      return
    }
    guard slots.count == stored.count else {
      if stored.count > slots.count, Self.compound.contains(layer.className) {
        return refuse(
          "it has more weights than its class: a layer inside is quantized, or has LoRA's matrices "
            + "or an activation with weights, which is not supported", layer,
          hint: "save the model before quantize() or enable_lora(), with activations as layers")
      }
      return refuse(
        "the configuration requires \(Self.list(slots.map(\.name))), but the file has "
          + Self.list(stored.map { "\($0.storedName) \(KerasTensor.text($0.shape))" }), layer)
    }
    weights[ObjectIdentifier(layer)] = zip(slots, stored).map { slot, weight in
      var weight = weight
      weight.name = slot.name
      return weight
    }
  }

  /// Layers with inner layers whose weights follow from the class alone.
  private static let compound: Set<String> = [
    "MultiHeadAttention", "GroupedQueryAttention", "GroupQueryAttention", "TimeDistributed",
  ]

  mutating func refuse(
    _ message: String, _ layer: ModelDefinition.Layer? = nil, hint: String? = nil
  ) {
    problems.append(
      ModelError(.mismatch, message, layer: layer?.name, layerClass: layer?.className, hint: hint))
  }

  /// - Parameter leftOver: weights that belong to no layer.
  /// - Throws: one error with all mismatches.
  mutating func check(leftOver: [String]) throws {
    if !leftOver.isEmpty {
      refuse(
        "the file has extra weights for " + firstNames(leftOver.map { "'\($0)'" }),
        hint: "the weights must come from a model of the same architecture")
    }
    if let error = UnsupportedLayers.error(
      problems, "the weights do not match the model in \(problems.count) places")
    {
      throw error
    }
  }

  private static func list(_ names: [String]) -> String {
    names.isEmpty
      ? "no weights"
      : "\(names.count) weight\(names.count == 1 ? "" : "s") (\(names.joined(separator: ", ")))"
  }
}

extension KerasWeights {
  /// - Parameter slots: the weights of a layer according to its configuration; nil if only the file
  ///   determines them, as for a custom layer.
  func assignment(
    to definition: ModelDefinition, slots: @escaping (ModelDefinition.Layer) -> [WeightSlot]?
  ) throws -> WeightAssignment {
    switch self {
    case let layers as any LayerWeights:
      return try LayerWeightMatching(definition, layers, slots: slots).assignment
    case let objects as ObjectWeights:
      var matching = ObjectWeightMatching(slots: slots)
      matching.match(definition, objects.root)
      return try matching.result()
    default: return WeightAssignment()
    }
  }
}
