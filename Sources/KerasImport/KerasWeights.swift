import HDF5Reader
import ImportSupport
import TensorCore

/// A weight in a file.
struct StoredWeight: Sendable {
  /// Short name by which the layer requests it, such as `kernel`.
  var name: String
  /// Name in the file.
  var storedName: String
  var shape: [Int]
  /// Of whole numbers with more digits than single precision keeps, such as `int64`.
  var wideType: String?
  var values: @Sendable () throws -> FloatValues

  init(
    name: String, storedName: String, shape: [Int], wideType: String? = nil,
    values: @escaping @Sendable () throws -> FloatValues
  ) {
    self.name = name
    self.storedName = storedName
    self.shape = shape
    self.wideType = wideType
    self.values = values
  }

  /// A dataset of a file.
  init(name: String, storedName: String, _ dataset: HDF5Dataset) {
    let type = dataset.originalType
    self.init(
      name: name, storedName: storedName, shape: dataset.shape,
      wideType: type.isInteger && type.byteCount > 2 ? type.description : nil,
      values: { try dataset.values() })
  }

  /// A remark if values have more digits than single precision keeps.
  func rounding(in layer: ModelDefinition.Layer) -> String? {
    guard let wideType, let numbers = try? values().array(),
      numbers.contains(where: { $0.magnitude >= 0x1p24 })
    else { return nil }
    return "layer '\(layer.name)' (\(layer.className)): the weight '\(storedName)' is \(wideType); "
      + "of its values from ±2²⁴ on, single precision keeps 24 bits"
  }

  /// `beta` for `a/b/beta:0`, and for Keras 1's `swish_1_beta:0` in the layer `swish_1`.
  static func shortName(_ stored: String, layer: String) -> String {
    var name = stored.split(separator: "/").last.map(String.init) ?? stored
    if let colon = name.lastIndex(of: ":") { name = String(name[..<colon]) }
    if name.hasPrefix(layer + "_") { name = String(name.dropFirst(layer.utf8.count + 1)) }
    return name
  }
}

/// The stored weights of each layer.
struct WeightAssignment: Sendable {
  var weights: [ObjectIdentifier: [StoredWeight]] = [:]
  /// How layers and weights were matched.
  var method = "by name"
  /// Other remarks for the user.
  var notes: [String] = []

  private var problems: [ModelError] = []

  /// Stores the weights of a layer under the names by which it requests them.
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

  /// Layers with layers inside whose weights are known by the class alone.
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

/// Where the weights of a model are stored.
protocol KerasWeights: Sendable {
  /// - Parameter slots: the weights of a layer according to its configuration; nil if only the file
  ///   determines them, as for a custom layer.
  func assignment(
    to definition: ModelDefinition, slots: @escaping (ModelDefinition.Layer) -> [WeightSlot]?
  ) throws -> WeightAssignment
}

/// Weights grouped by layer, as in the `.h5` files of all versions of Keras.
protocol LayerWeights: KerasWeights {
  /// In file order.
  var layerNames: [String] { get }
  /// The weights of one of `layerNames`, in file order.
  func weights(of layer: String) throws -> [StoredWeight]
}

extension LayerWeights {
  func assignment(
    to definition: ModelDefinition, slots: @escaping (ModelDefinition.Layer) -> [WeightSlot]?
  ) throws -> WeightAssignment {
    try LayerWeightMatching(definition, self, slots: slots).assignment
  }
}

/// Weights in an HDF5 file, where each layer's group lists its datasets in `weight_names`.
struct HDF5LayerWeights: LayerWeights {
  private let root: HDF5Group
  let layerNames: [String]

  /// - Parameter root: the group with the attribute `layer_names`.
  init(root: HDF5Group) throws {
    self.root = root
    layerNames = root.attributeStrings("layer_names") ?? []
    try require(layerNames.count <= Limits.layers, .limitExceeded, "\(layerNames.count) layers")
  }

  func weights(of layer: String) throws -> [StoredWeight] {
    let group = try root.group(layer)
    return try (group.attributeStrings("weight_names") ?? []).map { stored in
      let dataset = try group.dataset(stored)
      return StoredWeight(
        name: StoredWeight.shortName(stored, layer: layer), storedName: stored, dataset)
    }
  }
}
