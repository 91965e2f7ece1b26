import TensorCore

/// Which stored weights belong to the weights and layers that a layer's source makes.
struct SourceWeights {
  private(set) var stored: (weights: [Int: StoredWeight], layers: [Int: [StoredWeight]]) = (
    [:], [:]
  )
  private let call: LayerCall
  private var visited: Set<ObjectIdentifier> = []
  private var used: Set<String> = []

  init(_ object: PythonObject, _ call: LayerCall, isFrozen: Bool) throws {
    self.call = call
    if call.weights.contains(where: { "/\($0.storedName)".contains("/vars/") }) {
      try addPaths(.object(object), "")
      let left = call.weights.filter { !used.contains($0.storedName) }
      try require(
        left.isEmpty, "its source has no weight '\(left.first?.storedName ?? "")' of the file")
    } else {
      try addInOrder(object, isFrozen: isFrozen || object.isFrozen)
    }
  }

  private func slots(_ object: PythonObject) throws -> [WeightSlot] {
    guard let className = object.layerClass, className != "Sequential" else { return [] }
    guard let type = KerasLayerRegistry.type(named: className) else {
      throw call.unsupported("layer class '\(className)' is not supported")
    }
    let layer = try type.init(
      LayerConfiguration(
        name: call.name, className: className, fields: object.fields, version: call.version))
    return LayerHandler.known(layer).slots(object.fields, call.version) ?? layer.weights
  }

  /// The weight's values have its shape.
  private mutating func bind(_ weight: PythonWeight, _ found: StoredWeight) throws {
    try require(
      found.shape == weight.shape,
      "weight '\(found.storedName)' has the shape \(KerasTensor.text(found.shape)), but the source "
        + "makes it \(KerasTensor.text(weight.shape))")
    stored.weights[weight.number] = found
    used.insert(found.storedName)
  }

  private mutating func bind(_ object: PythonObject, _ found: [StoredWeight]) throws {
    let slots = try slots(object)
    try require(
      slots.count == found.count,
      "the layer \(object.className) in it needs \(slots.count) weights, but the file has "
        + "\(found.count)")
    stored.layers[object.number] = zip(slots, found).map { slot, weight in
      var weight = weight
      weight.name = slot.name
      return weight
    }
    used.formUnion(found.map(\.storedName))
  }

  // MARK: By path, as Keras 3's `_walk_saveable` names them

  private mutating func addPaths(_ symbol: PythonSymbol, _ path: String) throws {
    switch symbol {
    case .object(let object):
      guard visited.insert(ObjectIdentifier(object)).inserted else { return }
      let ordered = object.weights.filter(\.isTrainable) + object.weights.filter { !$0.isTrainable }
      for (index, weight) in ordered.enumerated() {
        let name = "\(path)vars/\(index)"
        guard let found = call.weights.first(where: { $0.storedName == name }) else {
          throw ModelError(.mismatch, "the file has no weight '\(name)' for its '\(weight.name)'")
        }
        try bind(weight, found)
      }
      if object.layerClass != nil, object.layerClass != "Sequential" {
        try bind(
          object, call.weights.filter { !path.isEmpty && $0.storedName.hasPrefix(path) })
        return
      }
      for name in object.names.sorted() {
        let isPrivate = name.hasPrefix("__")
        guard !isPrivate || !name.hasSuffix("__"), let value = object[name] else { continue }
        let mangled = isPrivate ? "_\(object.className)\(name)" : name
        try addPaths(value, path + mangled + "/")
      }
    case .list, .tuple, .dictionary:
      let parts: [PythonSymbol] =
        if case .dictionary(let members) = symbol { members.members.map(\.value) } else {
          symbol.elements ?? []
        }
      var counts: [String: Int] = [:]
      for part in parts {
        let kind: String
        switch part {
        case .object(let object): kind = ObjectWeights.groupName(object.className)
        case .list, .tuple, .dictionary: kind = "container"
        default: continue
        }
        let number = counts[kind, default: 0]
        counts[kind] = number + 1
        try addPaths(part, path + (number == 0 ? kind : "\(kind)_\(number)") + "/")
      }
    default: break
    }
  }

  // MARK: In order, as `.h5` files have them

  private struct Entry {
    var object: PythonObject
    var weight: PythonWeight?
    var slot: Int
    var name: String
    var isTrainable: Bool
  }

  private mutating func addInOrder(_ object: PythonObject, isFrozen: Bool) throws {
    var entries = try entries(.object(object), isFrozen: isFrozen)
    if !isFrozen { entries = entries.filter(\.isTrainable) + entries.filter { !$0.isTrainable } }
    try require(
      entries.count == call.weights.count,
      "its source makes \(entries.count) weights, but the file has \(call.weights.count)")
    let numbers = entries.map(\.object.number)
    let objects = Set(numbers)
    // Versions of Keras count objects by where they are set or when they are made.
    try require(
      objects.count < 2
        || Set(entries.map(\.isTrainable)).allSatisfy { kind in
          let some = entries.filter { $0.isTrainable == kind }.map(\.object.number)
          return some == some.sorted()
        }, .unsupported, "the order of its layers' weights is not known")
    var found: [Int: [(slot: Int, weight: StoredWeight)]] = [:]
    var layers: [Int: PythonObject] = [:]
    for (entry, weight) in zip(entries, call.weights) {
      let name = StoredWeight.shortName(weight.storedName, layer: call.name)
      let wanted = entry.name.split(separator: "/").last.map(String.init) ?? ""
      // Attention's `query_kernel` is `query/kernel` in a file.
      let path = weight.storedName.prefix { $0 != ":" }.replacing("/", with: "_")
      try require(
        wanted.isEmpty || name == wanted || name.hasPrefix(wanted + "_")
          || path.hasSuffix("_" + wanted),
        "the source makes the weight '\(entry.name)' where the file has '\(weight.storedName)'")
      if let own = entry.weight {
        try bind(own, weight)
      } else {
        layers[entry.object.number] = entry.object
        found[entry.object.number, default: []].append((entry.slot, weight))
      }
    }
    for (number, object) in layers {
      try bind(object, (found[number] ?? []).sorted { $0.slot < $1.slot }.map(\.weight))
    }
  }

  private mutating func entries(_ symbol: PythonSymbol, isFrozen: Bool) throws -> [Entry] {
    switch symbol {
    case .object(let object):
      guard visited.insert(ObjectIdentifier(object)).inserted else { return [] }
      let isFrozen = isFrozen || object.isFrozen
      let ordered = object.weights.filter(\.isTrainable) + object.weights.filter { !$0.isTrainable }
      var result = ordered.map { weight in
        Entry(
          object: object, weight: weight, slot: 0, name: weight.name,
          isTrainable: weight.isTrainable && !isFrozen)
      }
      for (index, slot) in try slots(object).enumerated() {
        result.append(
          Entry(
            object: object, weight: nil, slot: index, name: slot.name,
            isTrainable: slot.isTrainable && !isFrozen))
      }
      for name in object.names {
        guard let value = object[name] else { continue }
        result += try entries(value, isFrozen: isFrozen)
      }
      return result
    case .list, .tuple:
      return try (symbol.elements ?? []).flatMap { try entries($0, isFrozen: isFrozen) }
    case .dictionary(let members):
      return try members.members.flatMap { try entries($0.value, isFrozen: isFrozen) }
    default: return []
    }
  }
}
