import ImportSupport
import TensorCore

/// Matches weights to layers in files that group weights by layer.
///
/// Keras stores the weights of each outermost layer in a group named after it. The group of a
/// nested model contains the trainable weights of its layers in order, followed by the others. As
/// in Keras, weights are identified by order, not by name.
struct LayerWeightMatching {
  private(set) var assignment = WeightAssignment()
  private var used: Set<String> = []
  private let source: any LayerWeights
  private let slots: (ModelDefinition.Layer) -> [WeightSlot]?
  /// The group of each outermost layer.
  private var groups: [String: String] = [:]

  init(
    _ definition: ModelDefinition, _ source: any LayerWeights,
    slots: @escaping (ModelDefinition.Layer) -> [WeightSlot]?
  ) throws {
    self.source = source
    self.slots = slots
    groups = try pairGroups(definition)
    try assign(definition)
    let unused = try source.layerNames.filter {
      try !used.contains($0) && !source.weights(of: $0).isEmpty
    }
    try assignment.check(leftOver: unused)
  }

  /// The layers that have a group: the outermost layers, and the layers of a nested model that has
  /// no group, as in Keras 1.
  private func owners(_ definition: ModelDefinition, _ known: Set<String>) -> [ModelDefinition
    .Layer]
  {
    definition.layers.flatMap { layer -> [ModelDefinition.Layer] in
      guard let nested = layer.nested, !known.contains(layer.name) else { return [layer] }
      return owners(nested, known)
    }
  }

  /// Pairs groups by name, or in order if the counts agree and names are missing or in another
  /// order: Keras's `load_weights` goes by order.
  private mutating func pairGroups(_ definition: ModelDefinition) throws -> [String: String] {
    let known = Set(source.layerNames)
    let owners = owners(definition, known)
    let byName = Dictionary(
      owners.filter { known.contains($0.name) }.map { ($0.name, $0.name) },
      uniquingKeysWith: { first, _ in first })
    let needy = owners.filter { owner in
      leaves(owner).contains { !(slots($0) ?? []).isEmpty }
    }
    let full = try source.layerNames.filter { try !source.weights(of: $0).isEmpty }
    let isOrdered = full.count != needy.count || full == needy.map(\.name)
    if isOrdered, needy.allSatisfy({ byName[$0.name] != nil }) { return byName }
    guard full.count == needy.count else {
      let missing = needy.filter { byName[$0.name] == nil }.map { "'\($0.name)'" }
      throw ModelError(
        .mismatch,
        "the file has no weights for " + firstNames(missing)
          + ": \(needy.count) layers need weights, but the file has weights for \(full.count)",
        hint: full.isEmpty ? nil : "it contains " + firstNames(full))
    }
    assignment.method = "in order"
    assignment.notes.append(
      "weights were matched by order, not by name: "
        + firstNames(zip(needy, full).map { "'\($0.name)' gets the weights of '\($1)'" }))
    return Dictionary(
      zip(needy.map(\.name), full).map { ($0, $1) }, uniquingKeysWith: { first, _ in first })
  }

  private func leaves(_ layer: ModelDefinition.Layer) -> [ModelDefinition.Layer] {
    layer.nested.map { $0.layers.flatMap(leaves) } ?? [layer]
  }

  private mutating func assign(_ definition: ModelDefinition) throws {
    for layer in owners(definition, Set(source.layerNames)) {
      var stored: [StoredWeight] = []
      if let group = groups[layer.name] {
        used.insert(group)
        stored = try source.weights(of: group)
      }
      if layer.nested == nil {
        assignment.assign(stored, to: layer, slots: slots(layer))
      } else {
        assign(stored, toLayersOf: layer)
      }
    }
  }

  private mutating func assign(_ stored: [StoredWeight], toLayersOf model: ModelDefinition.Layer) {
    let leaves = leaves(model)
    let known = leaves.map { slots($0) }
    if known.contains(where: { $0 == nil }) {
      // A custom layer gets all weights under its name.
      for leaf in leaves {
        let own = stored.filter {
          $0.storedName.split(separator: "/").dropLast().contains { $0 == leaf.name }
        }.map { weight in
          var weight = weight
          weight.name = StoredWeight.shortName(weight.storedName, layer: leaf.name)
          return weight
        }
        assignment.assign(own, to: leaf, slots: slots(leaf))
      }
      return
    }
    var order: [(leaf: Int, slot: Int)] = []
    for isTrainable in [true, false] {
      for (index, slots) in known.enumerated() {
        for (position, slot) in (slots ?? []).enumerated()
        where (slot.isTrainable && leaves[index].isTrainable) == isTrainable {
          order.append((index, position))
        }
      }
    }
    guard order.count == stored.count else {
      return assignment.refuse(
        "its layers need \(order.count) weights, but the file has " + "\(stored.count)", model)
    }
    var sorted = leaves.map { _ in [(slot: Int, weight: StoredWeight)]() }
    for ((leaf, slot), weight) in zip(order, stored) { sorted[leaf].append((slot, weight)) }
    for (leaf, own) in zip(leaves, sorted) {
      assignment.assign(
        own.sorted { $0.slot < $1.slot }.map(\.weight), to: leaf, slots: slots(leaf))
    }
  }
}

extension ModelDefinition.Layer {
  var isTrainable: Bool { fields["trainable"]?.bool ?? true }
}
