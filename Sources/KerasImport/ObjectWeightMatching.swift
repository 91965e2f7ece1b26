import ByteFormats
import HDF5Reader
import ImportSupport
import TensorCore

/// Finds the group of each layer by Keras's naming rules.
struct ObjectWeightMatching {
  let slots: (ModelDefinition.Layer) -> [WeightSlot]?
  private var assignment = WeightAssignment()
  private var missing: [String] = []
  private var leftOver: [String] = []

  init(slots: @escaping (ModelDefinition.Layer) -> [WeightSlot]?) {
    self.slots = slots
    assignment.method = "by class and order"
  }

  mutating func result() throws -> WeightAssignment {
    if !missing.isEmpty {
      assignment.refuse(
        "the file has no weights for " + firstNames(missing.map { "'\($0)'" }),
        hint: leftOver.isEmpty ? nil : "it contains " + firstNames(leftOver))
    }
    try assignment.check(leftOver: leftOver)
    return assignment
  }

  mutating func match(_ model: ModelDefinition, _ node: HDF5Node) {
    if model.isSubclassed {
      for layer in model.layers where !layer.isInput { assign(node, layer) }
      return
    }
    let lists = node.layerLists
    var found: [ObjectIdentifier: HDF5Node] = [:]
    for list in lists {
      var used: Set<String> = []
      for (name, layers) in byClass(model) {
        let groups = list.numbered(name)
        let needy = groups.count == layers.count ? layers : layers.filter { needsWeights($0) }
        if groups.count == needy.count {
          for (layer, group) in zip(needy, groups) { found[ObjectIdentifier(layer)] = group.node }
        } else {
          for group in groups where group.number < layers.count {
            found[ObjectIdentifier(layers[group.number])] = group.node
          }
        }
        used.formUnion(layers.compactMap { found[ObjectIdentifier($0)]?.path })
      }
      leftOver += list.children.values.filter { $0.hasDatasets && !used.contains($0.path) }
        .map(\.path).sorted()
    }
    for layer in model.layers where !layer.isOperation {
      assign(found[ObjectIdentifier(layer)], layer)
    }
  }

  private mutating func assign(_ node: HDF5Node?, _ layer: ModelDefinition.Layer) {
    guard let node else {
      if needsWeights(layer) {
        missing.append(layer.name)
      } else if layer.nested == nil {
        // A layer without a group has no weights.
        assignment.assign([], to: layer, slots: slots(layer))
      }
      return
    }
    if let nested = layer.nested {
      match(nested, layer.className == ModelDefinition.stepwiseClass ? node["layer"] ?? node : node)
      return
    }
    let configuration =
      layer.innerClass == nil ? .object(layer.fields) : layer.fields["layer"]?["config"]
    assignment.assign(
      Self.weights(node, configuration, relativeTo: node.path == "/" ? "" : node.path),
      to: layer, slots: slots(layer))
  }

  private func needsWeights(_ layer: ModelDefinition.Layer) -> Bool {
    if let nested = layer.nested { return nested.layers.contains { needsWeights($0) } }
    return slots(layer).map { !$0.isEmpty } ?? false
  }

  /// The layers of a model by group name, in order.
  private func byClass(_ model: ModelDefinition) -> [(String, [ModelDefinition.Layer])] {
    var names: [String] = []
    var layers: [String: [ModelDefinition.Layer]] = [:]
    for layer in model.layers where !layer.isOperation && !layer.isInput {
      let name = ObjectWeights.groupName(layer.innerClass ?? layer.className)
      if layers[name] == nil { names.append(name) }
      layers[name, default: []].append(layer)
    }
    return names.map { ($0, layers[$0] ?? []) }
  }

  // MARK: One layer

  /// Attributes that contain layers, in the order in which a layer numbers their weights.
  private static let order = [
    "cell", "cells", "layer", "forward_layer", "backward_layer", "query_dense", "key_dense",
    "gate_dense", "value_dense", "output_dense",
  ]

  /// The weights of a layer, followed by those of its nested layers.
  private static func weights(
    _ node: HDF5Node, _ configuration: JSONValue?, relativeTo path: String
  ) -> [StoredWeight] {
    var result: [StoredWeight] = []
    let own = node["vars"]?.datasets ?? [:]
    for name in own.keys.sorted(by: isBefore) {
      guard let dataset = own[name] else { continue }
      let stored = String(dataset.path.dropFirst(path.utf8.count + 1))
      result.append(StoredWeight(name: name, storedName: stored, dataset))
    }
    func rank(_ name: String) -> Int {
      let plain = name.hasPrefix("_") ? String(name.dropFirst()) : name
      return order.firstIndex(of: plain) ?? order.count
    }
    let names = node.children.keys.filter { $0 != "vars" && !$0.hasPrefix("seed_generator") }
    for name in names.sorted(by: { (rank($0), $0) < (rank($1), $1) }) {
      guard let child = node[name] else { continue }
      if name == "cells" {
        for (cell, configuration) in cells(child, configuration) {
          result += weights(cell, configuration, relativeTo: path)
        }
      } else {
        result += weights(
          child, configuration?[name]?["config"] ?? configuration?["layer"]?["config"],
          relativeTo: path)
      }
    }
    return result
  }

  /// The cells of a stack in the order of the configuration; their groups are named only by class.
  private static func cells(
    _ node: HDF5Node, _ configuration: JSONValue?
  ) -> [(HDF5Node, JSONValue?)] {
    var counts: [String: Int] = [:]
    return (configuration?["cells"]?.array ?? []).compactMap { cell in
      let name = ObjectWeights.groupName(cell["class_name"]?.string ?? "")
      let number = counts[name, default: 0]
      counts[name] = number + 1
      return node[number == 0 ? name : "\(name)_\(number)"].map { ($0, cell["config"]) }
    }
  }

  /// Orders numbers by value, and before names.
  private static func isBefore(_ a: String, _ b: String) -> Bool {
    switch (Int(a), Int(b)) {
    case (let a?, let b?): a < b
    case (_?, nil): true
    case (nil, _?): false
    case (nil, nil): a < b
    }
  }
}
